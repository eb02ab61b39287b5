import type { ExecutionContext } from 'ava';
import { type Answer, type Client, client } from '../support/client.js';
import { signInToConsole } from '../support/console.js';
import { onEachStore } from '../support/each-store.js';
import { fails } from '../support/failure.js';
import { createSecret, type Management, newOrganization, newPlace, type Place } from '../support/management.js';
import { type AccessLevel, type Caller, endpointRule, type Level, refusal } from '../support/rule.js';
import {
	endpointBody,
	endpointPath,
	endpointQuery,
	keyedEndpoints as endpoints,
	furnish,
	type Names,
	pathParameters,
	type Visited,
} from '../support/tour.js';

/** Calls every endpoint with every kind of key. Each caller is either refused with the expected status, or allowed. */

const journey = onEachStore();

interface Calling extends Caller {
	readonly http: Client;
}

const accessLevels: readonly AccessLevel[] = ['admin', 'write', 'read', 'no_access'];

/** Creates every kind of key, described by its relation to `place`. */
async function createKeyHolders(place: Place, management: Management): Promise<readonly Calling[]> {
	const { url, store } = management;
	const sibling = await newPlace(management, management.organization);
	const elsewhere = { key: `${place.key}-elsewhere`, name: 'Elsewhere', initial_environments: [] };
	await management.organization.post('/v2/projects', elsewhere);
	const other = await newPlace(management, management.organization, elsewhere.key);
	const stranger = await newOrganization(management, `${place.key}-stranger`);
	await stranger.http.post('/v2/projects', { key: 'default', name: 'Default', initial_environments: [] });
	const theirs = await newPlace(management, stranger.http, 'default', place.key);
	const holder = async (level: Level, access: AccessLevel, of: Place, name: string): Promise<Calling> => {
		const opened = {
			...(level === 'org' ? {} : { project_id: of.project_id }),
			...(level === 'env' ? { environment_id: of.id } : {}),
		};
		const secret = await createSecret(store, of.organization_id, { ...opened, access_level: access });
		const opens = {
			organization: of.organization_id === place.organization_id,
			project: level === 'org' || of.project_id === place.project_id,
			environment: level !== 'env' || of.id === place.id,
		};
		return {
			name: `${access} of ${name}`,
			key: { level, access, opens: { ...opens, environment: opens.project && opens.environment } },
			http: client(url, secret),
		};
	};
	const own = (['org', 'project', 'env'] as const).flatMap((level) =>
		accessLevels.map((access) => holder(level, access, place, `the ${level}`)),
	);
	const others = [
		...(['admin', 'read'] as const).map((access) => holder('env', access, sibling, 'another environment')),
		...(['project', 'env'] as const).map((level) => holder(level, 'admin', other, `another project’s ${level}`)),
		...(['org', 'project', 'env'] as const).map((level) =>
			holder(level, 'admin', theirs, `another organization’s ${level}`),
		),
	];
	const sessions = [
		...(['admin', 'read'] as const).map((access) => ({ level: 'env' as const, access, of: place })),
		{ level: 'org' as const, access: 'admin' as const, of: place },
		// A session in a different environment. Its key gives access to both environments.
		{ level: 'org' as const, access: 'admin' as const, of: sibling },
	].map(async ({ level, access, of }) => {
		const opened = level === 'env' ? { project_id: of.project_id, environment_id: of.id } : {};
		const secret = await createSecret(store, of.organization_id, { ...opened, access_level: access });
		const { http } = await signInToConsole(of, secret);
		const opens = { organization: true, project: true, environment: of === place };
		return {
			name: `a session of ${level} ${access} in ${of.key}`,
			key: { level, access, opens, isSession: true },
			http,
		};
	});
	return Promise.all([...own, ...others, ...sessions]);
}

/** Callers without a known key: first without any key, then with an unknown key, then with malformed keys. */
function strangersTo({ url, secret, id }: Place): readonly Calling[] {
	const headers: Readonly<Record<string, string>> = {
		'an unknown key': `Bearer permit_key_${'x'.repeat(88)}`,
		'a truncated key': `Bearer ${secret.slice(0, -1)}`,
		'a key with an additional character': `Bearer ${secret}0`,
		'an id': `Bearer ${id}`,
		SQL: "Bearer ' or true--",
		'no word after bearer': 'Bearer ',
		'another scheme': `Basic ${secret}`,
		'no scheme': secret,
	};
	const sending = (authorization: string): Client => {
		const { send, ...rest } = client(url);
		return { ...rest, send: (method, path, body) => send(method, path, body, { headers: { authorization } }) };
	};
	return [
		{ name: 'no key', key: null, http: client(url) },
		...Object.entries(headers).map(([name, value]) => ({ name, key: null, http: sending(value) })),
	];
}

/** Returns an endpoint's path with ids, because in a second organization, the same keys name different objects. */
function pathIn(endpoint: Visited, place: Place, other: Names = {}): string {
	return endpointPath(endpoint, place, { proj_id: place.project_id, env_id: place.id, ...other });
}

/** Returns a valid body. New API keys belong to the place. */
function bodyIn(endpoint: Visited, place: Place): unknown {
	if (endpoint.name !== 'createApiKey') return endpointBody(endpoint);
	return { project_id: place.project_id, environment_id: place.id };
}

/**
 * Sends a request that has no effect even if the caller is allowed: a plain read, or a write that fails after the key
 * check, because its body is invalid or its path names a missing object.
 */
function askHarmlessly(endpoint: Visited, place: Place, http: Client): Promise<Answer<unknown>> {
	const method = endpoint.method.toUpperCase();
	if (endpoint.method === 'get') return http.send(method, pathIn(endpoint, place) + endpointQuery(endpoint));
	if (endpoint.body !== undefined) return http.send(method, pathIn(endpoint, place), 5);
	const last = pathParameters(endpoint).at(-1);
	if (last === undefined) throw new Error(`${endpoint.name} cannot be requested without effect`);
	return http.send(method, pathIn(endpoint, place, { [last]: 'nothing' }));
}

async function check(t: ExecutionContext, endpoint: Visited, place: Place, caller: Calling): Promise<void> {
	const expected = refusal(endpointRule(endpoint), caller);
	const what = `${caller.name}: ${endpoint.method} ${endpoint.path}`;
	if (expected === null) {
		const { status, body } = await askHarmlessly(endpoint, place, caller.http);
		const answered = endpoint.method === 'get' ? [200] : endpoint.body === undefined ? [404] : [400, 422];
		t.true(answered.includes(status), `${what}: ${status} ${JSON.stringify(body)}`);
		return;
	}
	const path = pathIn(endpoint, place);
	const answer = await caller.http.send(endpoint.method.toUpperCase(), path, bodyIn(endpoint, place));
	t.is(answer.status, expected, `${what}: ${JSON.stringify(answer.body)}`);
	fails(t, answer, expected);
}

journey('a key with the level no_access can only read its own scope', async (t, place, { url, store }) => {
	const { organization_id, project_id, id: environment_id } = place;
	const opened = { project_id, environment_id, access_level: 'no_access' } as const;
	const http = client(url, await createSecret(store, organization_id, opened));
	const scope = await http.get('/v2/api-key/scope');
	t.is(scope.status, 200);
	t.like(scope.body, { organization_id, project_id, environment_id });
	for (const path of ['/v2/api-key', '/v2/orgs', '/v2/projects', `/bundles/${environment_id}`]) {
		fails(t, await http.get(path), 403, 'no access');
	}
});

journey('every endpoint allows each kind of key according to its rule', async (t, place, management) => {
	await furnish(place);
	const holders = await createKeyHolders(place, management);
	const [nobody, unknown, ...malformed] = strangersTo(place);
	const revision = await place.revision();
	const projects = async () => JSON.stringify((await management.organization.get('/v2/projects')).body);
	const before = await projects();
	t.is(holders.length, 23);
	for (const [index, endpoint] of endpoints.entries()) {
		// Malformed keys are refused before any lookup, so testing a single malformed key per endpoint is enough.
		const strangers = [nobody, unknown, malformed[index % malformed.length]];
		const callers = [...holders, ...strangers.filter((caller) => caller !== undefined)];
		t.true(
			pathParameters(endpoint).every((name) => !pathIn(endpoint, place).includes(`no ${name}`)),
			endpoint.path,
		);
		await Promise.all(callers.map((caller) => check(t, endpoint, place, caller)));
	}
	t.is(await place.revision(), revision, 'no refused request had an effect');
	t.is(await projects(), before);
	t.is((await management.organization.get(`/v2/api-key/${place.key_id}`)).body['secret'], place.secret);
});

journey('bundles are served to callers with read access to the environment', async (t, place, management) => {
	for (const caller of [...(await createKeyHolders(place, management)), ...strangersTo(place)]) {
		// Here, a console session is not accepted as a key.
		const expected = caller.name.startsWith('a session') ? 401 : refusal({ needs: 'read', of: 'environment' }, caller);
		for (const path of [`/bundles/${place.id}`, `/bundles/${place.id}/rego`]) {
			if (expected !== null) fails(t, await caller.http.send('GET', path), expected);
		}
	}
});
