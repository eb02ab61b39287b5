/** Compiled policies and their publications. */
export const policies = [
	`create table policies (
		digest text primary key,
		files jsonb not null,
		wasm bytea not null,
		created_at timestamptz not null
	)`,
	// The active policy, or the reason why there is none. `schema` is the active policy's schema, to find the objects
	// removed by a newer schema; `left_out` has the objects excluded from the policy; `layout` is the layout of its data.
	`create table publications (
		environment_id uuid primary key references environments on delete cascade,
		digest text references policies,
		schema_revision bigint,
		published_at timestamptz,
		failure jsonb,
		failed_revision bigint,
		failed_at timestamptz,
		layout integer,
		schema jsonb,
		left_out jsonb not null default '[]',
		check ((digest is null) = (schema_revision is null) and (digest is null) = (published_at is null)),
		check ((failure is null) = (failed_revision is null) and (failure is null) = (failed_at is null))
	)`,
	// Published policies by schema revision. `schema` is the policy's schema, as gzipped JSON, and `layout` the layout of
	// the tables generated from it. The oldest rows may have the generated `files` instead.
	`create table policy_revisions (
		environment_id uuid not null references environments on delete cascade,
		schema_revision bigint not null,
		digest text not null references policies,
		files jsonb not null default '[]',
		published_at timestamptz not null,
		layout integer,
		schema bytea,
		primary key (environment_id, schema_revision)
	)`,
	'alter table policy_revisions alter column schema set storage external',
] as const;
