-- The tables of every store. A protocol is kept once, however many runs name it.
CREATE TABLE runs (id text PRIMARY KEY, created double precision NOT NULL, document text NOT NULL);
CREATE TABLE attempts (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, number integer NOT NULL, execution integer,
    document text NOT NULL, PRIMARY KEY (run, number)
);
CREATE TABLE calls (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, execution integer NOT NULL, number integer NOT NULL,
    intended double precision, complete integer NOT NULL, reused integer NOT NULL, document text NOT NULL,
    PRIMARY KEY (run, execution, number)
);
CREATE TABLE exchanges (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, number integer NOT NULL, document text NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE protocols (digest text PRIMARY KEY, document text NOT NULL);
CREATE TABLE tools (
    run text NOT NULL REFERENCES runs ON DELETE CASCADE, alias text NOT NULL,
    digest text NOT NULL REFERENCES protocols, PRIMARY KEY (run, alias)
);
CREATE TABLE keys (name text PRIMARY KEY, key text NOT NULL);
CREATE INDEX tools_by_digest ON tools (digest);
CREATE INDEX calls_in_doubt ON calls (json_extract(document, '$.tool'))
    WHERE json_extract(document, '$.outcome') = 'unknown';
CREATE INDEX runs_open ON runs (id) WHERE json_extract(document, '$.status') IN ('interrupted', 'running');
