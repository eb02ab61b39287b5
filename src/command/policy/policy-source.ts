import { setTimeout as sleep } from 'node:timers/promises';
import type { RegoFile } from '../../../compiler/model.js';
import { unpack } from '../../bundle/bundle.js';
import { ConfigError } from '../../config.js';
import { EnvironmentRead } from '../../wire/general/environment.js';
import { PolicyOfRevision, PolicyRead } from '../../wire/general/policy.js';
import { placeName } from '../place-name.js';
import { requireRevision } from '../revision-word.js';
import { ask, askFor, decodeText, path, type Server } from '../server.js';
import type { Place, Session } from '../session.js';

/** Maximum wait for a compilation and polling interval, both in milliseconds. */
const timeout = 15_000;
const pollInterval = 100;

/** An environment and its API. */
export interface PolicyPlace extends Place {
	readonly api: Server;
	/** Environment name: `project/environment`, with both keys. */
	readonly name: string;
}

/** Returns the environment for a command. Throws `ConfigError` if it does not exist. */
export async function policyPlace(session: Session): Promise<PolicyPlace> {
	const { api } = session;
	const place = await session.place();
	return { ...place, api, name: await placeName(api, place) };
}

/** Policy read over the API. */
export interface FoundPolicy extends Pick<PolicyOfRevision, 'schema_revision' | 'hash' | 'files'> {
	/** Revision at which the policy was read. */
	readonly revision: number;
	/** Reason why a newer schema has no policy. */
	readonly failure: PolicyRead['failure'];
}

/** Reads the active policy at a revision. Throws `ConfigError` if it cannot be read. */
export async function readPolicyAt(place: PolicyPlace, revision: string): Promise<FoundPolicy> {
	const at = `${environmentPath(place)}/policies/${requireRevision(revision)}`;
	const policy = await askFor(place.api, at, PolicyOfRevision);
	return { ...policy.body, revision: Number(revision), failure: null };
}

/** Reads the newest policy and waits for a running compilation. Throws `ConfigError` if there is no policy yet. */
export async function readNewestPolicy(place: PolicyPlace): Promise<FoundPolicy> {
	const { api, project, environment } = place;
	const newest = path`/v2/projects/${project}/${environment}/policy`;
	const until = performance.now() + timeout;
	for (;;) {
		const { revision, schema_revision, compiled_revision, failure } = (await askFor(api, newest, PolicyRead)).body;
		const handled = Math.max(compiled_revision ?? -1, failure?.revision ?? -1);
		if (handled < schema_revision && performance.now() < until) {
			await sleep(pollInterval);
			continue;
		}
		if (compiled_revision === null) {
			throw new ConfigError(`${place.name} has no policy yet${failure ? `: ${failure.message}` : ''}`);
		}
		return { ...(await readPolicyAt(place, String(compiled_revision))), revision, failure };
	}
}

/** Reads an environment's facts as a file for `opa`. Throws `ConfigError` if they cannot be read. */
export async function readFacts(place: PolicyPlace): Promise<RegoFile> {
	const { id } = (await askFor(place.api, environmentPath(place), EnvironmentRead)).body;
	const bundle = await unpack((await ask(place.api, path`/bundles/${id}/rego`)).body);
	const document = JSON.parse(decodeText(bundle.get('data.json') ?? new Uint8Array()));
	return { path: 'regolith/facts/data.json', text: `${JSON.stringify(document.regolith.facts, null, '\t')}\n` };
}

function environmentPath({ project, environment }: PolicyPlace): string {
	return path`/v2/projects/${project}/envs/${environment}`;
}
