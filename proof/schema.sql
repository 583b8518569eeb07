-- What the bundled tables lack: scope columns of other types, places and names, keys of
-- several columns, and the types and indexes on which plans and predicates differ.

CREATE SCHEMA shop;

CREATE TABLE shop.items (
    sku    text NOT NULL,
    n      int4 NOT NULL DEFAULT 1,
    tenant int8 NOT NULL,
    price  numeric,
    tags   text[],
    attrs  jsonb NOT NULL DEFAULT '{}',
    day    date,
    twice  int8 GENERATED ALWAYS AS (n::int8 * 2) STORED,
    PRIMARY KEY (tenant, sku)
);
CREATE INDEX items_tags ON shop.items USING gin (tags);
CREATE INDEX items_attrs ON shop.items USING gin (attrs jsonb_path_ops);
CREATE INDEX items_lower ON shop.items (lower(sku));
CREATE INDEX items_n ON shop.items (n);
CREATE INDEX items_day ON shop.items (day) WHERE price > 3;

CREATE TABLE shop.orders (
    year   int4 NOT NULL,
    no     int4 NOT NULL,
    sku    text,
    tenant int8 NOT NULL,
    qty    int4,
    note   text,
    placed timestamptz,
    doc    bytea,
    sizes  int4[],
    PRIMARY KEY (tenant, year, no),
    FOREIGN KEY (tenant, sku) REFERENCES shop.items (tenant, sku) ON DELETE SET NULL (sku)
);
CREATE INDEX orders_note ON shop.orders (note);
CREATE INDEX orders_sku ON shop.orders USING hash (sku);

-- Rows without an owner are nobody's.
CREATE TABLE public.notes (
    id      int8 NOT NULL,
    title   varchar(20),
    owner   uuid,
    code    char(6),
    pattern text NOT NULL DEFAULT '',
    done    bool,
    token   uuid,
    body    text,
    n       int4,
    UNIQUE (owner, id)
);
CREATE INDEX notes_title ON public.notes (title varchar_pattern_ops);

CREATE TABLE public.events (
    id        int8 NOT NULL,
    day       date NOT NULL,
    server_id text NOT NULL,
    kind      text NOT NULL DEFAULT '',
    payload   jsonb,
    weight    float8,
    n         int4,
    PRIMARY KEY (server_id, id, day)
) PARTITION BY RANGE (day);
CREATE TABLE public.events_early PARTITION OF public.events FOR VALUES FROM (MINVALUE) TO ('2024-01-10');
CREATE TABLE public.events_late PARTITION OF public.events FOR VALUES FROM ('2024-01-10') TO ('2025-01-01');
CREATE TABLE public.events_rest PARTITION OF public.events DEFAULT;
CREATE INDEX events_kind ON public.events (kind);

CREATE TABLE public."Tag List" (
    "Key"       text NOT NULL,
    val         text,
    "Server Id" varchar(40) NOT NULL,
    "order"     int4 NOT NULL DEFAULT 0,
    code        varchar(8),
    PRIMARY KEY ("Server Id", "Key")
);

CREATE TABLE public.profiles (
    server_id text NOT NULL,
    handle    text NOT NULL,
    secret    text,
    rank      int4 DEFAULT 3,
    digits    text,
    since     text,
    mark      text NOT NULL DEFAULT '!',
    doc       text,
    price     numeric,
    active    bool,
    UNIQUE (server_id, handle)
);

CREATE TABLE public.countries (
    code text PRIMARY KEY,
    name text NOT NULL,
    zone int4 NOT NULL
);
