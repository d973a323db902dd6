-- What of the roots of a block's traces does not follow from its transactions: where it is there, traces can be written as the
-- node wrote them.
alter table blocks add column trace_roots bytea;
