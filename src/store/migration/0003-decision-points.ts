import type { Knex } from 'knex';

/** State reported by decision points, and key rotation times. */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	'alter table api_keys add column debug_audit_logs boolean not null default true',
	'alter table api_keys add column rotated_at timestamptz',
	`create table pdp_states (
		environment_id uuid not null references environments on delete cascade,
		pdp_instance_id text not null,
		api_key_id uuid not null,
		state jsonb not null,
		first_seen_at timestamptz not null,
		last_seen_at timestamptz not null,
		primary key (environment_id, pdp_instance_id)
	)`,
] as const;
