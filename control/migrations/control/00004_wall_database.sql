-- The database that accepts the keys of wall_keys, so that keys are never rotated in another
-- one, whose statements nobody runs, while this one is left without the new key.

-- +goose Up

CREATE TABLE tenantgate.wall_database (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    id       uuid NOT NULL, -- what it calls itself: tenantgate_wall.database
    name     text NOT NULL, -- as it was when noted
    noted_at timestamptz NOT NULL DEFAULT tenantgate.now_ms()
);
