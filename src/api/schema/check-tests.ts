import { definedFields } from '../../domain/schema/defined-fields.js';
import { emptied, methods, reply } from '../../http/endpoint.js';
import { CheckTest, checkTestsByKey } from '../../store/table/check-test.js';
import type { ReadingUnit } from '../../store/unit/reading-unit.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { applyDraft } from '../../transfer/draft.js';
import { Reference } from '../../wire/common.js';
import { CheckTestResults, CheckTestRun, maxTestsPerRun } from '../../wire/general/check-test-run.js';
import { paginated } from '../../wire/list.js';
import { PageQuery } from '../../wire/query.js';
import { CheckTestCreate, CheckTestRead, CheckTestUpdate } from '../../wire/schema/check-test.js';
import { EnvironmentPath, endpoint, revisionHeader } from '../access.js';

const tag = 'Check tests';
const collection = '/v2/schema/:proj_id/:env_id/check_tests';
const member = `${collection}/:check_test_id`;
const collectionPlace = methods({ tag, path: collection, params: EnvironmentPath });
const memberPlace = methods({ tag, path: member, params: EnvironmentPath.extend({ check_test_id: Reference }) });
const example = {
	key: 'ann-reads-the-plan',
	check: { user: 'ann@example.com', action: 'read', resource: 'document:plan' },
	expected: 'allow',
};

/** Check tests (docs/policy/check-tests.md). */
export const checkTests = [
	endpoint({
		...collectionPlace.get,
		name: 'listCheckTests',
		summary: 'List check tests',
		access: 'environment.read',
		query: PageQuery,
		returns: { 200: paginated(CheckTestRead) },
		handle: async ({ query }, { unit }) => {
			const page = await checkTestsByKey(unit).page(query);
			const data = page.data.map((row) => readCheckTest(unit, row));
			return reply(200, { ...page, data });
		},
	}),
	endpoint({
		...collectionPlace.post,
		name: 'createCheckTest',
		summary: 'Create a check test',
		description: 'The objects in the check need not exist.',
		access: 'environment.write',
		body: CheckTestCreate,
		example,
		returns: { 200: CheckTestRead },
		failures: { 409: 'A check test with this key exists' },
		handle: async ({ body }, { unit }) =>
			reply(200, readCheckTest(unit, await unit.create(CheckTest, definedFields(body), body.key))),
	}),
	endpoint({
		...memberPlace.get,
		name: 'getCheckTest',
		summary: 'Get a check test',
		access: 'environment.read',
		returns: { 200: CheckTestRead },
		failures: { 404: 'No such check test' },
		handle: async ({ params }, { unit }) =>
			reply(200, readCheckTest(unit, await unit.find(CheckTest, params.check_test_id))),
	}),
	endpoint({
		...memberPlace.patch,
		name: 'updateCheckTest',
		summary: 'Update a check test',
		description: 'A `check` replaces the stored check completely. Null clears the description.',
		access: 'environment.write',
		body: CheckTestUpdate,
		example: { expected: 'deny' },
		returns: { 200: CheckTestRead },
		failures: { 404: 'No such check test' },
		handle: async ({ params, body }, { unit }) => {
			const row = await unit.find(CheckTest, params.check_test_id);
			return reply(200, readCheckTest(unit, await unit.update(CheckTest, row, definedFields(body), row.key)));
		},
	}),
	endpoint({
		...memberPlace.delete,
		name: 'deleteCheckTest',
		summary: 'Delete a check test',
		access: 'environment.write',
		returns: { 204: null },
		failures: { 404: 'No such check test' },
		handle: async ({ params }, { unit }) => {
			const row = await unit.find(CheckTest, params.check_test_id);
			return emptied(unit.removeMany(CheckTest, [row], ({ key }) => key));
		},
	}),
	endpoint({
		...methods({ tag, path: '/v2/projects/:proj_id/envs/:env_id/check_tests/run', params: EnvironmentPath }).post,
		name: 'runCheckTests',
		summary: 'Run the check tests, with or without a draft',
		description:
			'Decides all check tests with the policy and the facts of the newest revision and, if the body has a draft, with ' +
			`the changes in the draft. Nothing is stored. A run has at most ${maxTestsPerRun} tests. The coverage lists ` +
			'permissions, derivations and condition set rules without a test.',
		access: 'environment.impact',
		body: CheckTestRun,
		example: {},
		returns: { 200: CheckTestResults },
		failures: {
			400: 'The draft violates an API rule',
			404: 'No such environment, or an object in the draft does not exist',
			409: 'The draft conflicts with later changes, or the environment has no policy yet',
			429: 'Too many impact requests are queued for the environment',
			503: 'The run exceeded the time or memory limit',
		},
		handle: async ({ body: { draft }, closed }, { scope, caller, source }) => {
			const change = async (unit: WritingUnit) => {
				if (draft !== undefined) await applyDraft(unit, draft);
				return checkTestsByKey(unit).between(0, maxTestsPerRun + 1);
			};
			const results = await source.test({ scope, caller, change, closed });
			return reply(200, results, revisionHeader(results.base_revision));
		},
	}),
];

function readCheckTest(unit: ReadingUnit, row: CheckTest): CheckTestRead {
	return { ...row, ...unit.scope };
}
