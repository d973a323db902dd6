-- What several processes on one database agree on.

-- A duty that one process has at a time, the term under which it has it, and when it last said that it is alive.
create table leases (
    name text primary key,
    epoch bigint not null,
    holder text not null,
    renewed_at timestamptz not null
);

-- Rises when something was written that other processes have in memory.
create table changes (
    what text primary key,
    version bigint not null
);

-- Requests about streams that came to a process that does not have them, on their way to the one that does, and their
-- answers. They live for as long as somebody waits. Unlogged: tenants' secrets may be in them, which must not get into archived
-- WAL or a backup. A crash empties the table, so ids are never given twice.
create unlogged table stream_calls (
    id uuid primary key default gen_random_uuid(),
    asked_at timestamptz not null default clock_timestamp(),
    -- Under which term of the duty it was taken up.
    taken_under bigint,
    tenant text not null,
    method text not null,
    path text not null,
    content_type text,
    body bytea not null,
    status integer,
    header_names text[],
    header_values text[],
    answer bytea
);

-- Which sender makes the first attempts of a stream, and until when nobody else does.
alter table stream_queues add column claimed_by text;
alter table stream_queues add column claimed_until timestamptz;
