-- Two roles for a database of Plaza: plaza_owner for plaza migrate, plaza_server for plaza serve. Run it once as an
-- administrator, connected to the empty database. On CockroachDB, plaza_owner must also own the database, because
-- migrations set its regions: ALTER DATABASE plaza OWNER TO plaza_owner.
CREATE ROLE plaza_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE plaza_server LOGIN PASSWORD :'server_password';
GRANT CREATE, USAGE ON SCHEMA public TO plaza_owner;
GRANT USAGE ON SCHEMA public TO plaza_server;
-- Tables and sequences that plaza_owner creates later, in every migration.
GRANT plaza_owner TO CURRENT_USER;
ALTER DEFAULT PRIVILEGES FOR ROLE plaza_owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO plaza_server;
ALTER DEFAULT PRIVILEGES FOR ROLE plaza_owner IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO plaza_server;
