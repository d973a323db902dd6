-- What blocks wrote is partitioned by chain; partitions are made when a chain is first written. Numbers that a chain
-- gives are `bigint` where they fit and null where they do not, amounts are `numeric`; hashes and addresses are bytes.
-- Columns that begin with `packed` hold the object as it came, field for field, for the program.

create table meta (
    key text primary key,
    value bytea not null
);

create table chains (
    chain bigint primary key,
    -- Rises when another process begins to write the chain; a commit under an older one is refused.
    epoch bigint not null default 0,
    -- Of the newest journal entry.
    seq bigint not null default 0,
    journal_tail bigint not null default 0,
    covered_from bigint[] not null default '{}',
    covered_to bigint[] not null default '{}',
    -- The generation of facts in use, the one being built, and who decoded them.
    generation smallint not null default 0,
    decoded_with bytea not null default '\x0000000000000000000000000000000000000000000000000000000000000000',
    building smallint,
    building_with bytea,
    building_reached bigint,
    -- Up to where the oldest blocks were pruned.
    pruned_next bigint,
    pruned_epoch bigint,
    pruned_hash bytea
);

create table blocks (
    chain bigint not null,
    number bigint not null,
    hash bytea not null,
    parent_hash bytea,
    timestamp bigint not null,
    proof integer not null,
    tx_count integer not null,
    receipt_count integer not null,
    has_traces boolean not null,
    miner bytea,
    gas_limit bigint,
    gas_used bigint,
    base_fee_per_gas numeric,
    packed bytea not null,
    primary key (chain, number)
) partition by list (chain);
create index blocks_by_hash on blocks (chain, hash);
create index blocks_by_time on blocks (chain, timestamp, number);
create index blocks_untraced on blocks (chain, number) where tx_count > 0 and not has_traces;
create index blocks_receiptless on blocks (chain, number) where receipt_count < tx_count;

create table transactions (
    chain bigint not null,
    number bigint not null,
    tx_index integer not null,
    hash bytea,
    from_address bytea,
    to_address bytea,
    contract_address bytea,
    nonce bigint,
    value numeric,
    gas_price numeric,
    gas_used bigint,
    -- 1: it succeeded. Null where no receipt is known, or it has none.
    status smallint,
    type smallint,
    -- The first four bytes of its input.
    method bytea,
    packed bytea not null,
    primary key (chain, number, tx_index)
) partition by list (chain);
create index transactions_by_hash on transactions (chain, hash);

create table logs (
    chain bigint not null,
    number bigint not null,
    tx_index integer not null,
    -- Among the logs of its transaction.
    place integer not null,
    log_index bigint,
    address bytea,
    topic0 bytea,
    topic1 bytea,
    topic2 bytea,
    topic3 bytea,
    data bytea,
    -- 0, 1: the columns say all of it (1: with the block's time); 2: `packed` does.
    form smallint not null,
    packed bytea,
    primary key (chain, number, tx_index, place)
) partition by list (chain);
create index logs_by_address on logs (chain, address, number);
create index logs_by_topic0 on logs (chain, topic0, number);
create index logs_by_topic1 on logs (chain, topic1, number) where topic1 is not null;
create index logs_by_topic2 on logs (chain, topic2, number) where topic2 is not null;
create index logs_by_topic3 on logs (chain, topic3, number) where topic3 is not null;

-- Calls below the root of a transaction, in the order they were entered.
create table internal_transactions (
    chain bigint not null,
    number bigint not null,
    tx_index integer not null,
    place integer not null,
    kind text not null,
    depth integer not null,
    from_address bytea not null,
    to_address bytea,
    value numeric not null,
    -- It failed, or one around it did.
    failed boolean not null,
    packed bytea not null,
    primary key (chain, number, tx_index, place)
) partition by list (chain);

-- Who takes part in which transaction; `direct`: as sender, receiver or created contract.
create table wallet_transactions (
    chain bigint not null,
    address bytea not null,
    direct boolean not null,
    number bigint not null,
    tx_index integer not null,
    primary key (chain, address, direct, number, tx_index)
) partition by list (chain);

-- Of wallets with many transactions: level 0 is the total, the others are buckets of 2^20, 2^16 … 1 blocks.
create table wallet_counts (
    chain bigint not null,
    address bytea not null,
    level smallint not null,
    bucket bigint not null,
    direct bigint not null,
    internal bigint not null,
    primary key (chain, address, level, bucket)
) partition by list (chain);

create table facts (
    chain bigint not null,
    generation smallint not null,
    number bigint not null,
    packed bytea not null,
    primary key (chain, generation, number)
) partition by list (chain);

create table trades (
    chain bigint not null,
    generation smallint not null,
    number bigint not null,
    -- Among the trades of its block.
    place integer not null,
    tx_index integer not null,
    log_index bigint not null,
    contract bytea not null,
    market smallint not null,
    marketplace bytea not null,
    seller bytea not null,
    buyer bytea not null,
    currency bytea not null,
    price numeric not null,
    in_native boolean not null,
    primary key (chain, generation, number, place)
) partition by list (chain);
create index trades_by_contract on trades (chain, generation, contract, number, place);
create index trades_by_price on trades (chain, generation, contract, price, number, place)
    where in_native and price > 0;

-- How a block left a pool. A `liquidity` row adds to the state before it.
create table pool_states (
    chain bigint not null,
    generation smallint not null,
    pool bytea not null,
    number bigint not null,
    kind text not null,
    reserve0 numeric,
    reserve1 numeric,
    sqrt_price numeric,
    liquidity numeric,
    tick integer,
    packed bytea not null,
    primary key (chain, generation, pool, number)
) partition by list (chain);
create index pool_states_by_block on pool_states (chain, generation, number);

create table pools (
    chain bigint not null,
    generation smallint not null,
    pool bytea not null,
    token0 bytea not null,
    token1 bytea not null,
    factory bytea not null,
    fee bigint,
    -- A block that told of it was pruned: it stays, whoever goes.
    is_kept boolean not null default false,
    packed bytea not null,
    primary key (chain, generation, pool)
) partition by list (chain);
create index pools_by_token0 on pools (chain, generation, token0, token1);
create index pools_by_token1 on pools (chain, generation, token1, token0);

-- Which blocks tell of a pool.
create table told_pools (
    chain bigint not null,
    generation smallint not null,
    pool bytea not null,
    number bigint not null,
    primary key (chain, generation, pool, number)
) partition by list (chain);
create index told_pools_by_block on told_pools (chain, generation, number);

-- How the newest pruned block that changed a pool left it.
create table carried_pools (
    chain bigint not null,
    pool bytea not null,
    epoch bigint not null,
    number bigint not null,
    packed bytea not null,
    primary key (chain, pool)
);

create table tokens (
    chain bigint not null,
    address bytea not null,
    name text,
    symbol text,
    decimals smallint,
    packed bytea not null,
    primary key (chain, address)
);

create table journal (
    chain bigint not null,
    seq bigint not null,
    kind text not null check (kind in ('apply', 'revert', 'amend')),
    origin text not null check (origin in ('head', 'history', 'import')),
    number bigint not null,
    hash bytea not null,
    primary key (chain, seq)
);

create table readers (
    chain bigint not null,
    name text not null,
    seq bigint not null,
    start bigint not null,
    next bigint not null,
    primary key (chain, name)
);

create table reader_rows (
    chain bigint not null,
    name text not null,
    key bytea not null,
    value bytea not null,
    primary key (chain, name, key)
);

create table api_keys (
    -- SHA-256 of the key.
    hash bytea primary key,
    id text not null,
    tenant text not null,
    name text not null,
    role text not null check (role in ('admin', 'tenant')),
    created_at bigint not null,
    units_per_second bigint,
    allow text[] not null,
    deny text[] not null
);

create table streams (
    id bytea primary key,
    tenant text not null,
    body bytea not null
);

-- Outlives its stream until all that hangs on it is removed.
create table stream_queues (
    stream bytea primary key,
    tenant text not null,
    is_removed boolean not null default false,
    last_seq bigint not null default 0,
    last_digest bytea not null default '\x0000000000000000000000000000000000000000000000000000000000000000',
    tried_seq bigint not null default 0,
    waiting bigint not null default 0,
    waiting_bytes bigint not null default 0,
    webhooks_delivered bigint not null default 0,
    webhooks_failed bigint not null default 0,
    txs bigint not null default 0,
    logs bigint not null default 0,
    internal_txs bigint not null default 0,
    addresses bigint not null default 0
);

create table stream_addresses (
    stream bytea not null,
    address bytea not null,
    primary key (stream, address)
);

create table stream_settings (
    tenant text primary key,
    body bytea not null
);

-- Matches that wait for their block to be confirmed, or for its traces.
create table stream_matches (
    stream bytea not null,
    chain bigint not null,
    number bigint not null,
    hash bytea not null,
    traces_missing boolean not null,
    first_seq bigint,
    parts integer not null,
    packed bytea not null,
    primary key (stream, chain, number)
);
create index stream_matches_by_block on stream_matches (chain, number, stream);

create table deliveries (
    stream bytea not null,
    seq bigint not null,
    chain bigint not null,
    number bigint not null,
    hash bytea not null,
    kind text not null check (kind in ('unconfirmed', 'confirmed', 'retracted')),
    part bigint not null,
    parts bigint not null,
    traces_missing boolean not null,
    amends bigint,
    txs bigint not null,
    logs bigint not null,
    internal_txs bigint not null,
    created_ms bigint not null,
    body_bytes bigint not null,
    digest bytea not null,
    previous_digest bytea not null,
    -- How far its attempts came.
    attempts bigint not null default 0,
    due_ms bigint,
    delivered_ms bigint,
    given_up boolean not null default false,
    error text,
    -- Where it stands in the list of those that failed.
    failed_ms bigint,
    failed_retries bigint,
    -- Since when it waits for no attempt.
    ended_ms bigint,
    body bytea not null,
    primary key (stream, seq)
);
create index deliveries_due on deliveries (due_ms, stream, seq) where due_ms is not null;
create index deliveries_ended on deliveries (ended_ms, stream, seq) where ended_ms is not null;

create table stream_attempts (
    tenant text not null,
    at_ms bigint not null,
    stream bytea not null,
    seq bigint not null,
    retries bigint not null,
    chain bigint not null,
    number bigint not null,
    webhook_url text not null,
    tag text not null,
    error text,
    primary key (tenant, at_ms, stream, seq, retries)
);

-- The last attempt of each delivery, where it failed.
create table stream_failed (like stream_attempts including all);
create index stream_attempts_by_time on stream_attempts (at_ms);

create function hex(bytes bytea) returns text language sql immutable parallel safe strict
    return '0x' || encode(bytes, 'hex');

-- An unsigned number, as it stands in a log's data or topic.
create function uint(bytes bytea) returns numeric language plpgsql immutable parallel safe strict as $$
declare
    number numeric := 0;
begin
    for place in 0 .. length(bytes) - 1 loop
        number := number * 256 + get_byte(bytes, place);
    end loop;
    return number;
end
$$;

create view blocks_hex as select chain, number, hex(hash) as hash, hex(parent_hash) as parent_hash,
    to_timestamp(timestamp) as time, tx_count, has_traces, hex(miner) as miner, gas_limit, gas_used, base_fee_per_gas
    from blocks;
create view transactions_hex as select chain, number, tx_index, hex(hash) as hash, hex(from_address) as from_address,
    hex(to_address) as to_address, hex(contract_address) as contract_address, nonce, value, gas_price, gas_used, status,
    type, hex(method) as method from transactions;
create view logs_hex as select chain, number, tx_index, place, log_index, hex(address) as address, hex(topic0) as topic0,
    hex(topic1) as topic1, hex(topic2) as topic2, hex(topic3) as topic3, hex(data) as data from logs;
create view internal_transactions_hex as select chain, number, tx_index, place, kind, depth,
    hex(from_address) as from_address, hex(to_address) as to_address, value, failed from internal_transactions;
create view wallet_transactions_hex as select chain, hex(address) as address, direct, number, tx_index
    from wallet_transactions;
create view trades_hex as select t.chain, t.number, t.place, t.tx_index, hex(t.contract) as contract, t.market,
    hex(t.marketplace) as marketplace, hex(t.seller) as seller, hex(t.buyer) as buyer, hex(t.currency) as currency,
    t.price, t.in_native from trades t join chains c on c.chain = t.chain and c.generation = t.generation;
create view pools_hex as select p.chain, hex(p.pool) as pool, hex(p.token0) as token0, hex(p.token1) as token1,
    hex(p.factory) as factory, p.fee from pools p join chains c on c.chain = p.chain and c.generation = p.generation;
create view pool_states_hex as select s.chain, hex(s.pool) as pool, s.number, s.kind, s.reserve0, s.reserve1,
    s.sqrt_price, s.liquidity, s.tick
    from pool_states s join chains c on c.chain = s.chain and c.generation = s.generation;
create view coverage as select chain, ranges.first, ranges.last
    from chains, unnest(covered_from, covered_to) as ranges (first, last);
