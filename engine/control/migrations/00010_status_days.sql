-- The history of 90 days: minutes of each grade by day and part, which is serving_tables, trades, markets, or a source behind
-- "source:"; and what happened when, in unix seconds. until is NULL for what goes on, and for what takes no time.
-- +goose Up
CREATE TABLE status_days (
    day     TEXT    NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    part    TEXT    NOT NULL,
    a       INTEGER NOT NULL,
    b       INTEGER NOT NULL,
    c       INTEGER NOT NULL,
    d       INTEGER NOT NULL,
    f       INTEGER NOT NULL,
    lag_max INTEGER,
    PRIMARY KEY (day, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE status_events (
    at    INTEGER NOT NULL,
    kind  TEXT    NOT NULL,
    part  TEXT    NOT NULL,
    until INTEGER,
    grade TEXT CHECK (length(grade) = 1),
    text  TEXT    NOT NULL,
    PRIMARY KEY (at, kind, part)
) STRICT, WITHOUT ROWID;

INSERT INTO status_days (day, part, a, b, c, d, f, lag_max)
SELECT date(at, 'unixepoch') AS day, part, sum(grade = 'A'), sum(grade = 'B'), sum(grade = 'C'), sum(grade = 'D'), sum(grade = 'F'), max(lag)
FROM (
    SELECT at, 'serving_tables' AS part, substr(grades, 1, 1) AS grade, serving_lag AS lag FROM status_samples
    UNION ALL SELECT at, 'trades', substr(grades, 2, 1), trades_lag FROM status_samples
    UNION ALL SELECT at, 'markets', substr(grades, 3, 1), markets_lag FROM status_samples
    UNION ALL SELECT at, 'source:' || s.key, s.value ->> 'grade', s.value ->> 'lag' FROM status_samples, json_each(sources) AS s WHERE sources IS NOT NULL
)
GROUP BY day, part;
