import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { endpoints } from '../../src/api/table.js';
import { newPlace, startManagement } from '../support/management.js';
import { root } from '../support/root.js';
import { endpointClients, furnish, keyedEndpoints, tour, type Visited } from '../support/tour.js';
import { chapters } from './specification.js';

/** `docs/develop/api-coverage.md` lists the served endpoints and their tests; `UPDATE=1` rewrites it. */

const page = join(root, 'docs/develop/api-coverage.md');

/** Journeys for tags without a journey with the same name. */
const tagJourneys: Readonly<Record<string, string>> = {
	Organizations: 'api-keys',
	Projects: 'general',
	Environments: 'general',
	Policy: 'general',
	'Resource actions': 'resources',
	'Resource attributes': 'resources',
	'Tenant users': 'tenants',
	Console: 'console-sign-in',
	Elements: 'element-sign-in',
	'Condition set rules': 'set-rules',
};

/**
 * Returns the journey for bulk calls or the tag's journey, if the file contains the method and the last word of the
 * path; otherwise `null`.
 */
function journeyNaming({ tag, method, path }: Visited): string | null {
	const ofObject = tagJourneys[tag] ?? tag.toLowerCase().replaceAll(' ', '-');
	const words = path.includes('/bulk') ? (/bulk.*/.exec(path)?.[0] ?? '') : path.split('/').findLast(isWord);
	const files = ['bulk', ofObject].map((name) => `test/journey/${name}.test.ts`);
	const naming = files
		.filter((file) => existsSync(join(root, file)))
		.find((file) => {
			const text = readFileSync(join(root, file), 'utf8');
			const asked = text.includes(`.${method}(`) || text.includes(`'${method.toUpperCase()}'`);
			return asked && text.includes(words ?? '') && (file !== files[0] || path.includes('/bulk'));
		});
	return naming ?? null;
}

function isWord(step: string): boolean {
	return !step.startsWith(':');
}

function pathShape(path: string): string {
	return path.replace(/:\w+|{\w+}/g, '{}');
}

const byPlace = new Map(endpoints.map((endpoint) => [`${endpoint.method} ${pathShape(endpoint.path)}`, endpoint]));

function row(method: string, path: string, succeeded: ReadonlySet<string>): string {
	const endpoint = byPlace.get(`${method.toLowerCase()} ${pathShape(path)}`);
	if (endpoint === undefined) return `| ${method} | \`${path}\` | not yet | | |`;
	const journey = journeyNaming(endpoint);
	const tests = [succeeded.has(endpoint.name) ? 'tour' : null, journey && `[journey](../../${journey})`];
	return `| ${method} | \`${path}\` | yes | \`${endpoint.name}\` | ${tests.filter(Boolean).join(', ')} |`;
}

const head = ['| Method | Path | Served | Operation | Tested by |', '|---|---|---|---|---|'];

function pageFor(succeeded: ReadonlySet<string>): string {
	const named = new Set<string>();
	const tables = Object.entries(chapters).map(([chapter, paths]) => {
		const rows = paths.flatMap(([methods, path]) =>
			methods.split(' ').map((method) => {
				named.add(`${method.toLowerCase()} ${pathShape(path)}`);
				return row(method, path, succeeded);
			}),
		);
		return [`## ${chapter}`, '', ...head, ...rows, ''];
	});
	const rest = [...byPlace].filter(([place]) => !named.has(place)).map(([, endpoint]) => endpoint);
	const others = rest.map(({ method, path }) => row(method.toUpperCase(), path.replace(/:(\w+)/g, '{$1}'), succeeded));
	const served = [...named].filter((place) => byPlace.has(place)).length;
	return [
		'# API coverage',
		'',
		'Every endpoint of the specification, with its operation name and tests.',
		`${served} of ${named.size} are served, and ${others.length} others.`,
		'',
		'- **tour**: a test calls the endpoint with valid input, and the response matches its description.',
		'- **journey**: the test file for the object of the endpoint.',
		'',
		'Further tests call every operation with invalid input (`test/journey/input.test.ts`), with ids from other environments',
		'(`isolation`) and with every kind of key (`scope`), and call every method of the Node SDK',
		'(`test/contract/permitio-api.test.ts`).',
		'',
		'A test generates this page: `UPDATE=1 npm test -- test/docs/api-coverage.test.ts`.',
		'',
		...tables.flat(),
		'## Beyond the specification',
		'',
		...head,
		...others,
		'',
	].join('\n');
}

test('the page lists served endpoints and their tests', async (t) => {
	const management = await startManagement();
	t.teardown(management.stop);
	const made = { key: 'toured', name: 'Toured', initial_environments: [] };
	t.is((await management.organization.post('/v2/projects', made)).status, 200);
	const place = await newPlace(management, management.organization, 'toured');
	await furnish(place);
	const visits = await tour(place, await endpointClients(place, management));
	const succeeded = visits.filter(({ answer }) => answer.status < 300).map(({ endpoint }) => endpoint.name);
	t.deepEqual([...succeeded].sort(), keyedEndpoints.map(({ name }) => name).sort(), 'the tour succeeds everywhere');
	const text = pageFor(new Set(succeeded));
	if (process.env['UPDATE'] === '1') writeFileSync(page, text);
	t.is(existsSync(page) ? readFileSync(page, 'utf8') : '', text, 'run with UPDATE=1 to rewrite the page');
});

test('no two rows in the specification describe the same endpoint', (t) => {
	const places = Object.values(chapters).flatMap((paths) =>
		paths.flatMap(([methods, path]) => methods.split(' ').map((method) => `${method} ${pathShape(path)}`)),
	);
	t.is(new Set(places).size, places.length);
	t.true(places.length > 70);
});
