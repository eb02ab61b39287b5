/** An environment's change log, and the lineages of its revisions. */
export const changes = [
	// The first row of each revision has a random token. The oldest revisions may have none.
	`create table changes (
		environment_id uuid not null references environments on delete cascade,
		revision bigint not null,
		position integer not null,
		kind text not null,
		operation text not null check (operation in ('create', 'update', 'delete')),
		key text not null,
		before jsonb,
		after jsonb,
		actor_id uuid,
		created_at timestamptz not null,
		token text,
		primary key (environment_id, revision, position)
	)`,
	// Finds the objects removed since the schema of the active policy.
	`create index changes_of_schema on changes (environment_id, revision) where kind in
		('resource', 'resource_action', 'relation', 'role', 'condition_set', 'condition_set_rule')`,
	// Finds changes in the schema half of environment documents, for drafts.
	`create index changes_of_documents on changes (environment_id, revision) where kind in
		('resource', 'resource_action', 'resource_attribute', 'relation', 'action_group', 'role', 'condition_set',
		'condition_set_rule', 'elements_config')`,

	// Database lineages. At most one has not ended.
	`create table lineages (
		id text primary key,
		system_identifier text,
		timeline text,
		database_oid text,
		table_oid text,
		row_xid text,
		reason text not null,
		created_at timestamptz not null,
		ended_at timestamptz
	)`,
	'create unique index lineages_current on lineages ((ended_at is null)) where ended_at is null',
] as const;
