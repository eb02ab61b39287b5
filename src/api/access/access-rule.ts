import { forbidden } from '../../failure.js';
import type { Endpoint } from '../../http/endpoint.js';
import type { Answer, Run } from '../../http/mount.js';
import type { AnyRequest } from '../../http/received-request.js';
import type { Turns } from '../../limit/turns.js';
import type { PolicyStore } from '../../store/policy/policy-store.js';
import type { Store } from '../../store/store.js';
import { LostAccess } from '../../store/unit/caller-check.js';
import type { UserTokens } from '../../token/user-token.js';
import type { EnvironmentCopier } from '../../transfer/environment-copy.js';
import type { FindRelayTarget, Relay } from '../console/relay-target.js';
import type { ImpactSource } from '../impact-source.js';
import type { Monitoring } from '../monitoring.js';
import type { PolicyTests } from '../policy-tests.js';

/** Dependencies for opening handler contexts. */
export interface Guarded {
	readonly store: Store;
	readonly policies: PolicyStore;
	readonly copies: EnvironmentCopier;
	readonly tokens: UserTokens;
	readonly monitoring: Monitoring;
	readonly decisionPoints: { readonly target: FindRelayTarget; readonly relay: Relay };
	readonly impact: ImpactSource;
	readonly policyTests: PolicyTests;
	/** Called during a request, after the request writes an environment revision. */
	readonly wrote?: ((environment: string, revision: number) => void) | undefined;
}

/** A request under its access rule, with the dependencies of all rules. */
export interface Visit extends Guarded {
	readonly request: AnyRequest;
	readonly method: Endpoint['method'];
	/** Turns for draft previews, keyed by environment. */
	readonly previews: Turns;
	/** Turns for decision log deliveries, keyed by environment. */
	readonly deliveries: Turns;
}

export type RunHandler<Context> = ((context: Context) => Promise<Answer>) &
	Pick<Run, 'validate' | 'waits' | 'readBody'>;

interface AccessRule<Found, Context> {
	/** Finds the caller and the target. Rejects unknown callers before their request body is read. */
	readonly authenticate: (visit: Visit, run: RunHandler<Context>) => Promise<Found>;
	/** Opens the handler context, runs the handler, and closes the context. */
	readonly open: (found: Found, run: RunHandler<Context>, visit: Visit) => Promise<Answer>;
}

/** Admits a request: authenticates the caller, validates the request, and runs the handler. */
export type Admit<Context> = (visit: Visit, run: RunHandler<Context>) => Promise<Answer>;

/**
 * Declares an access rule. If the body took time to arrive, `authenticate` runs again. Writes check the caller once
 * more in their transaction. If this check fails, `authenticate` runs again to produce the error.
 */
export function defineAccess<Found, Context>({ authenticate, open }: AccessRule<Found, Context>): Admit<Context> {
	return async (visit, run) => {
		const first = await authenticate(visit, run);
		const waited = run.waits();
		// Validate first: `open` may take a lock, and an invalid request must not delay other requests.
		await run.validate();
		const found = waited ? await authenticate(visit, run) : first;
		try {
			return await open(found, run, visit);
		} catch (error) {
			if (!(error instanceof LostAccess)) throw error;
			await authenticate(visit, run);
			throw forbidden('the access level of this API key changed during the request: retry');
		}
	};
}
