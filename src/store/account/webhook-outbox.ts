import type { Knex } from 'knex';
import { keptDeliveries, pruningDeliveries } from '../table/element/webhook-delivery.js';
import { type Cipher, webhookSigningKeys } from './secret.js';

/** A delivery taken by this process, with its destination and secrets. */
export interface TakenDelivery {
	readonly environment_id: string;
	readonly config_id: string;
	/** Delivery id, the same for every attempt. */
	readonly id: string;
	readonly payload: Readonly<Record<string, unknown>>;
	/** Number of started attempts, including this attempt. */
	readonly attempts: number;
	/** `null` if the element no longer has a webhook; `unreadable` if its token cannot be decrypted. */
	readonly webhook: TakenWebhook | 'unreadable' | null;
}

export interface TakenWebhook {
	readonly url: string;
	readonly bearer_token: string | null;
	readonly signing_keys: readonly Buffer[];
}

/** Outcome of an attempt. `retry_after`: milliseconds until the next attempt; `null` for no retry. */
export type DeliveryOutcome =
	| { readonly delivered: true; readonly response_status: number }
	| {
			readonly delivered: false;
			readonly response_status: number | null;
			readonly error: string;
			readonly retry_after: number | null;
	  };

/**
 * Lease duration of a taken delivery, longer than an attempt takes. When the lease has expired, a different process may
 * take the delivery.
 */
const lease = "interval '30 seconds'";
interface TakenRow extends Omit<TakenDelivery, 'webhook'> {
	readonly webhook_id: string | null;
	readonly webhook_url: string | null;
	readonly secret_webhook_token: Uint8Array | null;
}

/** Webhook deliveries of all environments: pending deliveries and their log. */
export class WebhookOutbox {
	constructor(
		private readonly database: Knex,
		private readonly cipher: Cipher,
	) {}

	/**
	 * Takes up to `most` due deliveries. For each element, takes only the oldest delivery, and none while a delivery for
	 * the element is being sent. Events therefore arrive in order while the receiver accepts them. Elements take turns,
	 * so an unresponsive receiver delays only its own backlog. Processes never take the same delivery: they skip locked
	 * rows and lease taken rows.
	 */
	async take(most: number): Promise<readonly TakenDelivery[]> {
		// Read first, because a write would fail on a full disk. Without due deliveries, nothing is written.
		const { rows: due } = await this.database.raw<{ readonly rows: readonly unknown[] }>(looking);
		if (due.length === 0) return [];
		const { rows } = await this.database.raw<{ readonly rows: readonly TakenRow[] }>(taking, { most });
		return rows.map(({ webhook_id, webhook_url, secret_webhook_token, ...row }) => ({
			...row,
			webhook:
				webhook_id === null || webhook_url === null
					? null
					: this.#webhook(webhook_id, webhook_url, secret_webhook_token),
		}));
	}

	#webhook(id: string, url: string, secretToken: Uint8Array | null): TakenWebhook | 'unreadable' {
		try {
			const bearer_token = secretToken === null ? null : this.cipher.decrypt(secretToken);
			return { url, bearer_token, signing_keys: webhookSigningKeys(this.cipher, id) };
		} catch {
			// A damaged token affects only this element: it must not delay events for other elements.
			return 'unreadable';
		}
	}

	/**
	 * Records an attempt's outcome, unless a different process has taken over. Deletes completed deliveries beyond the
	 * retention limit.
	 */
	async finish(taken: TakenDelivery, outcome: DeliveryOutcome): Promise<void> {
		const { environment_id, id, attempts } = taken;
		const { response_status } = outcome;
		const ended = { response_status, error: outcome.delivered ? null : outcome.error, lease_until: null };
		const retry = outcome.delivered ? null : outcome.retry_after;
		const next =
			retry === null
				? { status: outcome.delivered ? 'delivered' : 'failed' }
				: { next_attempt_at: this.database.raw(`now() + ? * interval '1 millisecond'`, [retry]) };
		await this.database('webhook_deliveries')
			.where({ environment_id, id, attempts, status: 'pending' })
			.update({ ...ended, ...next });
		if (retry === null) await this.#prune(taken);
	}

	/** Releases deliveries whose recorded times are in the future, because the database clock was set back. */
	async releaseAhead(): Promise<void> {
		await this.database.raw(releasing);
	}

	async #prune({ environment_id, config_id }: TakenDelivery): Promise<void> {
		await this.database.raw(pruningDeliveries, { environment_id, config_id, kept: keptDeliveries });
	}
}

const releasing = `update webhook_deliveries set next_attempt_at = now(), lease_until = null
	where status = 'pending' and (
		(attempts = 0 and next_attempt_at > now() + interval '1 minute')
		or attempted_at > now() + interval '1 minute'
	)`;

const looking = `select 1 as due from webhook_deliveries where status = 'pending' and next_attempt_at <= now() limit 1`;

// Finds each element's oldest delivery through the index for pending deliveries. Comparing ten thousand pending
// deliveries with each other would take minutes. The statement considers more deliveries than it takes, because other
// processes may have locked some of these rows.
const taking = `with oldest as (
		select first.environment_id, first.id, row_number() over (
			order by (
				select max(tried.attempted_at) from webhook_deliveries as tried
				where tried.environment_id = config.environment_id and tried.config_id = config.id
			) nulls first, first.next_attempt_at, first.id
		) as turn
		from elements_configs as config
		cross join lateral (
			select waiting.environment_id, waiting.id, waiting.next_attempt_at from webhook_deliveries as waiting
			where waiting.environment_id = config.environment_id and waiting.config_id = config.id
				and waiting.status = 'pending' and waiting.next_attempt_at <= now()
			order by waiting.id limit 1
		) as first
		where not exists (
			select from webhook_deliveries as other
			where other.environment_id = config.environment_id and other.config_id = config.id
				and other.status = 'pending' and other.lease_until > now()
		)
		order by turn limit 8 * :most
	), due as (
		select waiting.environment_id, waiting.id from oldest
		join webhook_deliveries as waiting on waiting.environment_id = oldest.environment_id and waiting.id = oldest.id
		where waiting.status = 'pending' and waiting.next_attempt_at <= now()
			and (waiting.lease_until is null or waiting.lease_until <= now())
		order by oldest.turn limit :most
		for update of waiting skip locked
	)
	update webhook_deliveries as taken
	set attempts = taken.attempts + 1, attempted_at = now(), lease_until = now() + ${lease}
	from due, elements_configs as config
	where taken.environment_id = due.environment_id and taken.id = due.id
		and config.environment_id = taken.environment_id and config.id = taken.config_id
	returning taken.environment_id, taken.config_id, taken.id, taken.payload, taken.attempts,
		config.webhook_id, config.webhook_url, config.secret_webhook_token`;
