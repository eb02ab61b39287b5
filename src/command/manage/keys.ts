import { z } from 'zod';
import { ConfigError } from '../../config.js';
import { ApiKeyRead } from '../../wire/general/api-key.js';
import type { Told } from '../declaration.js';
import { ask, askFor, askForAll, path, type Server } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { table, visible } from '../terminal.js';
import { openEnvironments } from './environments.js';

const Named = z.object({ id: z.string(), key: z.string() }).nullable();
const Key = ApiKeyRead.pick({
	id: true,
	name: true,
	access_level: true,
	owner_type: true,
	created_at: true,
	last_used_at: true,
}).extend({ env: Named, project: Named });

/** Lists the API keys visible to the calling key, without secrets. */
export async function listKeys({ api }: Session, options: SharedOptions): Promise<Told> {
	const { project: wantedProject, environment } = options;
	const listed = await askForAll(api, '/v2/api-key', Key, { proj_id: wantedProject });
	const isWanted = ({ env }: z.output<typeof Key>) =>
		environment === undefined || (env !== null && [env.key, env.id].includes(environment));
	const wantedKeys = listed.filter(isWanted);
	if (wantedKeys.length === 0) await requireListed(api, options);
	const keys = wantedKeys.map(({ env, project, ...key }) => ({
		id: key.id,
		name: key.name,
		project: project?.key ?? null,
		environment: env?.key ?? null,
		access_level: key.access_level,
		owner_type: key.owner_type,
		created_at: key.created_at,
		last_used_at: key.last_used_at,
	}));
	const rows = keys.map((key) => [
		key.id,
		key.name ?? '-',
		key.project === null ? 'organization' : `${key.project}/${key.environment ?? '*'}`,
		key.access_level,
		key.last_used_at ?? 'never',
	]);
	return {
		text: rows.length === 0 ? 'no keys\n' : table(['ID', 'NAME', 'SCOPE', 'ACCESS', 'LAST USED'], rows),
		json: { keys },
	};
}

/**
 * Throws `ConfigError` if the specified project or environment does not exist. An empty list would instead look like an
 * environment without keys.
 */
async function requireListed(api: Server, { project, environment }: SharedOptions): Promise<void> {
	const open = await openEnvironments(api, project);
	if (environment === undefined || open.some((one) => [one.environment, one.id].includes(environment))) return;
	const place = project === undefined ? '' : ` in project \`${visible(project)}\``;
	throw new ConfigError(
		`--environment: environment \`${visible(environment)}\`${place} does not exist, or the key in ${api.key.variable} has no access to it`,
	);
}

/** Gives an API key a new secret and prints the secret. */
export async function rotateKey({ api }: Session, _: SharedOptions, id: string): Promise<Told> {
	const Rotated = z.object({ id: z.string(), secret: z.string() });
	const { body } = await askFor(api, path`/v2/api-key/${id}/rotate-secret`, Rotated, { method: 'POST' });
	return { text: `${body.secret}\n`, json: { id: body.id, secret: body.secret } };
}

/** Deletes an API key. From then on, the server rejects it. */
export async function revokeKey({ api }: Session, _: SharedOptions, id: string): Promise<Told> {
	await ask(api, path`/v2/api-key/${id}`, { method: 'DELETE' });
	return { text: 'API key revoked\n', json: { id, revoked: true } };
}
