import { Failure } from '../../failure.js';
import { refuseNoAccess } from '../account/authenticate.js';
import type { Caller } from '../account/caller.js';
import { hashSecret } from '../account/secret.js';
import type { Store } from '../store.js';
import type { Environment } from '../table/account.js';
import { type ConsoleSession, type ShownConsoleSession, signedOut } from './console-sessions.js';
import type { TicketKey } from './console-tickets.js';

/** Who may sign in to the console, to any environment that their API key opens. */
export interface ConsoleEntry {
	readonly caller: Caller;
	readonly key: TicketKey;
	/** The ticket that is spent by that; `null` where there is none. */
	readonly ticket: string | null;
}

/** Where people sign in to the console: by a ticket, an API key, or the session of another environment. */
export class ConsoleEntrance {
	constructor(private readonly store: Store) {}

	/**
	 * Who may enter by a ticket, which is not spent yet. Throws `signed_out` for one that is refused, `unauthorized` when its
	 * key is gone or rotated, and `forbidden` when that has no access.
	 */
	async byTicket(ticket: string): Promise<ConsoleEntry> {
		const key = await this.store.consoleTickets.find(ticket);
		const caller = await this.store.callerById(key.api_key_id, key.key_fingerprint);
		if (caller === null) throw new Failure('unauthorized', 'the API key of this ticket was deleted or rotated');
		refuseNoAccess(caller);
		return { caller, key, ticket };
	}

	/** Who may enter by an API key. Throws `unauthorized` for one that is unknown, `forbidden` for one without access. */
	async byKey(secret: string): Promise<ConsoleEntry> {
		const caller = await this.store.caller(secret);
		if (caller === null) throw new Failure('unauthorized', 'this API key is unknown');
		refuseNoAccess(caller);
		return { caller, key: { api_key_id: caller.key_id, key_fingerprint: hashSecret(secret) }, ticket: null };
	}

	/** Who may enter by the session of an environment that they have. Throws `signed_out` and `forbidden`. */
	async bySession(shown: ShownConsoleSession): Promise<ConsoleEntry> {
		const [session] = await this.find([shown]);
		if (session === undefined) throw signedOut(await this.store.consoleSessions.endOfUnknown(shown));
		const { signedIn, api_key_id, key_fingerprint } = session;
		if (typeof signedIn === 'string') throw signedOut(signedIn);
		refuseNoAccess(signedIn);
		// The session to come is of another environment.
		const { session_environment_id: _, ...caller } = signedIn;
		return { caller, key: { api_key_id, key_fingerprint }, ticket: null };
	}

	/**
	 * Signs in to an environment, and ends the session whose secret the new one takes the place of. Returns the secret.
	 * Throws `signed_out` when the ticket was spent meanwhile, and `not_found` when the environment was deleted.
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

	/** The failure for a secret that stands for no session. */
	async refusal(shown: ShownConsoleSession | undefined): Promise<Failure> {
		return signedOut(shown === undefined ? 'SIGNED_OUT' : await this.store.consoleSessions.endOfUnknown(shown));
	}

	/** Ends the session that a secret stands for, if there is one. */
	end(shown: ShownConsoleSession): Promise<void> {
		return this.store.consoleSessions.end(shown);
	}
}
