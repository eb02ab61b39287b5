/**
 * Decisions logged by decision points. They are not environment objects and have no references, because they may
 * outlive everything they name.
 */
export const decisionLog = [
	// The table is partitioned by the day of receipt, so old decisions are removed by dropping a table.
	`create table audit_logs (
		environment_id uuid not null,
		received_on date not null,
		id uuid not null,
		logged_at timestamptz not null,
		api_key_id uuid not null,
		user_key text,
		action text,
		resource_type text,
		tenant text,
		decision boolean,
		code text,
		raw json not null,
		primary key (environment_id, id, received_on)
	) partition by range (received_on)`,
	'create index audit_logs_time on audit_logs (environment_id, logged_at desc, id desc)',
	'create index audit_logs_user on audit_logs (environment_id, user_key, logged_at desc, id desc)',
	// Finds decisions with a code, newest first. Without this index, finding a rare code would scan all decisions in the
	// environment. Events from other programs may contain codes that are too long for an index.
	`create index audit_logs_code on audit_logs (environment_id, code, logged_at desc, id desc)
		where octet_length(code) <= 128`,
	// Space used by decisions, by environment and day, counted when they are stored: measuring takes too long to do for
	// each batch. A deleted environment is counted until its decisions are gone from the disk.
	`create table audit_logs_usage (
		environment_id uuid not null,
		received_on date not null,
		events bigint not null,
		bytes bigint not null,
		primary key (environment_id, received_on)
	)`,
] as const;
