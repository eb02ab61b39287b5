import { ConfigError } from '../../config.js';
import type { Server } from '../server.js';
import { diagnoseDecisionPoint } from './decision-point-check.js';
import { type FoundEnvironment, type Inventory, Site } from './inventory.js';
import { findLeftovers } from './v1-leftovers.js';

export interface MigrateOptions {
	readonly api: Server;
	/**
	 * Projects and environments created by the team. Each entry is either `project`, which covers
	 * all its environments, or `project/environment`. Both parts are keys.
	 */
	readonly mine: readonly string[];
	/** Folders with code. */
	readonly code: readonly string[];
	/** Decision points: a URL, or `project/environment=URL`. */
	readonly pdp: readonly string[];
}

/** Progress toward version 2. */
export interface Migration {
	/** Human-readable findings. */
	readonly report: string;
	/** Remaining tasks as sentences. Empty when the migration is complete. */
	readonly left: readonly string[];
}

/**
 * Checks a migration from version 1, over HTTP and in the given folders. Throws `ConfigError` if it cannot query the
 * API or read a folder.
 */
export async function checkMigration(options: MigrateOptions): Promise<Migration> {
	const { api } = options;
	const site = new Site(api);
	const inventory = await site.inventory();
	const parts = [
		checkProjects(inventory, options.mine, api.url),
		await checkDecisionPoints(site, inventory, options.pdp),
		...checkFolders(options.code),
	];
	const left = parts.flatMap((part) => part.left);
	const end =
		left.length === 0
			? ['No migration tasks left. Verify yourself that checks return the decisions you expect.']
			: [`Migration is not complete. Tasks left: ${left.length}`, ...left.map((line) => `  - ${line}`)];
	return { report: `${[...parts.flatMap((part) => [...part.lines, '']), ...end].join('\n')}\n`, left };
}

interface Part {
	readonly lines: readonly string[];
	readonly left: readonly string[];
}

function checkProjects({ whole, projects }: Inventory, mine: readonly string[], api: string): Part {
	const places = projects.flatMap(({ key, environments }) => environments.map((one) => `${key}/${one.key}`));
	const foreign = [
		...projects
			.filter(({ key }) => !mine.some((name) => name === key || name.startsWith(`${key}/`)))
			.map(({ key }) => key),
		...places.filter((place) => !isMine(place, mine)),
	];
	const known = new Set([...places, ...projects.map(({ key }) => key)]);
	const notFound = mine.filter((name) => !known.has(name));
	const lines = projects.flatMap(({ key, name, environments }) => [
		`  ${key} (${name})${foreign.includes(key) ? '   FOREIGN' : ''}`,
		...environments.map(
			(one) => `    ${describeContents(one)}${isMine(`${key}/${one.key}`, mine) ? '' : '   FOREIGN'}`,
		),
	]);
	const foreignTo = (place: string) =>
		`${place} was not created by your team: recreate the objects you need in your own environments, or add the name to --mine`;
	return {
		lines: [
			`Projects and environments at ${api}:`,
			...lines,
			'  Organization-scoped objects: none. In this API every object belongs to one environment.',
		],
		left: [
			...(whole ? [] : ['the API key has no access to the whole organization, so this list may be incomplete']),
			...(mine.length > 0 ? [] : ['list your team’s projects and environments, with --mine project,other/environment']),
			...(mine.length > 0 ? foreign.map(foreignTo) : []),
			...notFound.map((name) => `${name}, from --mine, does not exist`),
		],
	};
}

function isMine(place: string, mine: readonly string[]): boolean {
	const [project = ''] = place.split('/');
	return mine.includes(place) || mine.includes(project);
}

function describeContents({ key, stats }: FoundEnvironment): string {
	const counted = (['resources', 'roles', 'users', 'tenants'] as const).map((what) => `${stats[what]} ${what}`);
	return `${key}: ${counted.join(', ')}`;
}

async function checkDecisionPoints(site: Site, inventory: Inventory, named: readonly string[]): Promise<Part> {
	if (named.length === 0) {
		return { lines: ['Decision points: none specified'], left: ['list every decision point in use, with --pdp'] };
	}
	const lines: string[] = [];
	const left: string[] = [];
	for (const name of named) {
		const { url, place } = parseDecisionPoint(name);
		const serves = findEnvironment(inventory, place);
		const trouble =
			serves === null
				? askForEnvironment(place)
				: await diagnoseDecisionPoint(url, await site.findKey(serves, inventory));
		lines.push(`  ${name}: ${trouble ?? 'ok, version 2'}`);
		if (trouble !== null) left.push(`decision point ${url}: ${trouble}`);
	}
	return { lines: ['Decision points:', ...lines], left };
}

/** Parses `project/environment=URL`, or a URL alone. */
function parseDecisionPoint(name: string): { readonly url: string; readonly place: string | null } {
	const [, place = null, url = name] = /^([\w-]+\/[\w-]+)=(.*)$/.exec(name) ?? [];
	if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
		throw new ConfigError(`--pdp: \`${name}\` is neither a URL nor project/environment=URL`);
	}
	return { url, place };
}

/** Returns the environment `project/environment`. If `place` is `null`, returns the only environment. */
function findEnvironment({ projects }: Inventory, place: string | null): FoundEnvironment | null {
	const all = projects.flatMap(({ key, environments }) =>
		environments.map((one) => ({ one, name: `${key}/${one.key}` })),
	);
	const meant = place === null ? all : all.filter(({ name }) => name === place);
	return meant.length === 1 ? (meant[0]?.one ?? null) : null;
}

function askForEnvironment(place: string | null): string {
	return place === null
		? 'specify its environment: --pdp project/environment=URL'
		: `environment ${place} does not exist`;
}

function checkFolders(folders: readonly string[]): readonly Part[] {
	if (folders.length > 0) return folders.map(checkFolder);
	return [{ lines: ['Code: no folders specified'], left: ['list the source folders of your services, with --code'] }];
}

function checkFolder(folder: string): Part {
	const found = searchFolder(folder).map(({ file, line, problem }) => `${file}:${line}: ${problem}`);
	const lines = found.length === 0 ? ['  no version 1 calls'] : found.map((one) => `  ${one}`);
	return { lines: [`Code in ${folder}:`, ...lines], left: found };
}

function searchFolder(folder: string) {
	try {
		return findLeftovers(folder);
	} catch (error) {
		throw new ConfigError(`--code: cannot read ${folder}`, { cause: error });
	}
}
