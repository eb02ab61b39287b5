import type { Knex } from 'knex';
import type { Clock } from '../../clock.js';
import { Failure } from '../../failure.js';
import { hashSecret, newToken, sameHash } from '../account/secret.js';
import type { ApiKey } from '../table/account.js';

/** Ticket lifetime in seconds. */
export const consoleTicketSeconds = 10 * 60;

/** Retention period for expired tickets, to report why they are rejected, in milliseconds. */
const memory = 24 * 3_600_000;

/** A ticket's API key, and the hash of the key's secret at the time the ticket was issued. */
export interface TicketKey {
	readonly api_key_id: string;
	/** Hash of the key's secret at that time. */
	readonly key_fingerprint: Uint8Array;
}

interface Row extends TicketKey {
	readonly ticket_hash: Uint8Array;
	readonly expires_at: Date;
	readonly spent_at: Date | null;
}

/** Single-use tickets for signing in to the console, each for an API key. */
export class ConsoleTickets {
	constructor(
		private readonly database: Knex,
		private readonly clock: Clock,
	) {}

	/** Issues a ticket for an API key. Only its hash is stored. */
	async issue({ id, secret_hash }: Pick<ApiKey, 'id' | 'secret_hash'>): Promise<string> {
		const ticket = newToken();
		const expires_at = new Date(this.clock.now().getTime() + consoleTicketSeconds * 1_000);
		const ticket_hash = hashSecret(ticket);
		await this.database('console_tickets').insert({
			ticket_hash,
			api_key_id: id,
			key_fingerprint: secret_hash,
			expires_at,
		});
		return ticket;
	}

	/** Returns a ticket's key. Throws `signed_out` with a code that distinguishes spent, expired and unknown tickets. */
	async find(ticket: string): Promise<TicketKey> {
		const ticket_hash = hashSecret(ticket);
		const row = await this.database<Row>('console_tickets').where({ ticket_hash }).first();
		if (row === undefined || !sameHash(row.ticket_hash, ticket_hash)) throw refusedTicket('TICKET_UNKNOWN');
		if (row.spent_at !== null) throw refusedTicket('TICKET_SPENT');
		if (row.expires_at <= this.clock.now()) throw refusedTicket('TICKET_EXPIRED');
		return row;
	}

	/** Spends a ticket. If several processes spend it concurrently, only one succeeds. Throws like `find`. */
	async spend(ticket: string): Promise<void> {
		const now = this.clock.now();
		const spent = await this.database('console_tickets')
			.where({ ticket_hash: hashSecret(ticket), spent_at: null })
			.where('expires_at', '>', now)
			.update({ spent_at: now })
			.returning('ticket_hash');
		if (spent.length > 0) return;
		await this.find(ticket);
		throw refusedTicket('TICKET_SPENT');
	}

	/** Removes expired tickets after the retention period. */
	async forgetOld(): Promise<void> {
		const oldest = new Date(this.clock.now().getTime() - memory);
		await this.database('console_tickets').where('expires_at', '<', oldest).delete();
	}
}

const refusals = {
	TICKET_UNKNOWN: 'this ticket is unknown',
	TICKET_SPENT: 'this ticket was already used: each ticket works for one sign-in',
	TICKET_EXPIRED: 'this ticket has expired: tickets are valid for ten minutes',
} as const;

function refusedTicket(code: keyof typeof refusals): Failure {
	const message = `${refusals[code]}; \`regolith console\` prints a new ticket, or sign in with an API key`;
	return new Failure('signed_out', message, { code });
}
