import type { Knex } from 'knex';

/**
 * Webhook deliveries for elements: an outbox, written in the event's unit of work, and a log of the outcomes. Rows are
 * deleted with their element.
 */
export async function up(knex: Knex): Promise<void> {
	for (const statement of statements) await knex.raw(statement);
}

const statements = [
	`create table webhook_deliveries (
		environment_id uuid not null references environments on delete cascade,
		id uuid not null,
		config_id uuid not null,
		event text not null,
		payload json not null,
		status text not null check (status in ('pending', 'delivered', 'failed')),
		attempts integer not null,
		next_attempt_at timestamptz not null default now(),
		lease_until timestamptz,
		attempted_at timestamptz,
		response_status integer,
		error text,
		created_at timestamptz not null,
		primary key (environment_id, id),
		foreign key (environment_id, config_id) references elements_configs on delete cascade
	)`,
	'create index webhook_deliveries_config on webhook_deliveries (environment_id, config_id, id)',
	`create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending'`,
	`create index webhook_deliveries_waiting on webhook_deliveries (environment_id, config_id, id)
		where status = 'pending'`,
] as const;
