import { Failure } from '../../failure.js';
import { refuseNoAccess } from '../account/authenticate.js';
import type { Caller } from '../account/caller.js';
import { hashSecret } from '../account/secret.js';
import type { Store } from '../store.js';
import type { Environment } from '../table/account.js';
import { type ConsoleSession, type ShownConsoleSession, signedOut } from './console-sessions.js';
import type { TicketKey } from './console-tickets.js';

/** Permission to sign in to the console, in any environment accessible with the API key. */
export interface ConsoleEntry {
	readonly caller: Caller;
	readonly key: TicketKey;
	/** Ticket to spend; `null` if the caller signs in without a ticket. */
	readonly ticket: string | null;
}

/** Signs in to the console with a ticket, an API key, or a session for a different environment. */
export class ConsoleEntrance {
	constructor(private readonly store: Store) {}

	/**
	 * Returns the entry for an unspent ticket. Throws `signed_out` if the ticket is rejected, `unauthorized` if its key
	 * was deleted or rotated, and `forbidden` if the key has no access.
	 */
	async byTicket(ticket: string): Promise<ConsoleEntry> {
		const key = await this.store.consoleTickets.find(ticket);
		const caller = await this.store.callerById(key.api_key_id, key.key_fingerprint);
		if (caller === null) throw new Failure('unauthorized', "this ticket's API key was deleted or rotated");
		refuseNoAccess(caller);
		return { caller, key, ticket };
	}

	/**
	 * Returns the entry for an API key. Throws `unauthorized` for an unknown key, and `forbidden` for a key without
	 * access.
	 */
	async byKey(secret: string): Promise<ConsoleEntry> {
		const caller = await this.store.caller(secret);
		if (caller === null) throw new Failure('unauthorized', 'this API key is unknown');
		refuseNoAccess(caller);
		return { caller, key: { api_key_id: caller.key_id, key_fingerprint: hashSecret(secret) }, ticket: null };
	}

	/** Returns the entry for an existing session. Throws `signed_out` and `forbidden`. */
	async bySession(shown: ShownConsoleSession): Promise<ConsoleEntry> {
		const [session] = await this.find([shown]);
		if (session === undefined) throw signedOut(await this.store.consoleSessions.endOfUnknown(shown));
		const { signedIn, api_key_id, key_fingerprint } = session;
		if (typeof signedIn === 'string') throw signedOut(signedIn);
		refuseNoAccess(signedIn);
		// Omit the session's environment, because the new session belongs to a different environment.
		const { session_environment_id: _, ...caller } = signedIn;
		return { caller, key: { api_key_id, key_fingerprint }, ticket: null };
	}

	/**
	 * Signs in to an environment, and ends the session whose secret is `replaced`. Returns the new session's secret.
	 * Throws `signed_out` if the ticket was spent in the meantime, and `not_found` if the environment was deleted in the
	 * meantime.
	 */
	async begin({ key, ticket }: ConsoleEntry, environment: Environment, replaced: string | undefined): Promise<string> {
		if (ticket !== null) await this.store.consoleTickets.spend(ticket);
		if (replaced) await this.end({ environment_id: environment.id, secret: replaced });
		return this.store.consoleSessions.begin(environment, key);
	}

	/** See `ConsoleSessions.find`. */
	find(shown: readonly ShownConsoleSession[]): Promise<readonly ConsoleSession[]> {
		return this.store.consoleSessions.find(shown);
	}

	/** Returns the failure for a request without an active session. */
	async refusal(shown: ShownConsoleSession | undefined): Promise<Failure> {
		return signedOut(shown === undefined ? 'SIGNED_OUT' : await this.store.consoleSessions.endOfUnknown(shown));
	}

	/** Ends the session with this secret, if it exists. */
	end(shown: ShownConsoleSession): Promise<void> {
		return this.store.consoleSessions.end(shown);
	}
}
