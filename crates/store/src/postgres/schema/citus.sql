-- For databases with the Citus extension (`headwater migrate --citus`): what blocks wrote is spread over its workers, each table by
-- the column that it is looked up by. Tables that are written or read together are side by side: those by block number, those by
-- wallet, those by pool. All else stays on the coordinator: it is small, or its statements lock rows that Citus cannot.

set local citus.multi_shard_modify_mode = 'sequential';

-- Sales are looked up by their collection, and Citus wants the column in every key.
alter table trades drop constraint trades_pkey;
alter table trades add primary key (chain, generation, contract, number, place);
create index trades_by_block on trades (chain, generation, number);

select create_distributed_table('blocks', 'number', colocate_with => 'none');
select create_distributed_table('transactions', 'number', colocate_with => 'blocks');
select create_distributed_table('logs', 'number', colocate_with => 'blocks');
select create_distributed_table('internal_transactions', 'number', colocate_with => 'blocks');
select create_distributed_table('facts', 'number', colocate_with => 'blocks');

select create_distributed_table('wallet_transactions', 'address', colocate_with => 'none');
select create_distributed_table('wallet_counts', 'address', colocate_with => 'wallet_transactions');

select create_distributed_table('pools', 'pool', colocate_with => 'none');
select create_distributed_table('pool_states', 'pool', colocate_with => 'pools');
select create_distributed_table('told_pools', 'pool', colocate_with => 'pools');
select create_distributed_table('carried_pools', 'pool', colocate_with => 'pools');

select create_distributed_table('trades', 'contract', colocate_with => 'none');
select create_distributed_table('tokens', 'address', colocate_with => 'none');
