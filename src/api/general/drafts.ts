import { maxProblems } from '../../failure.js';
import { methods, reply } from '../../http/endpoint.js';
import { applyDraft } from '../../transfer/draft.js';
import { compareRego } from '../../transfer/rego-thread.js';
import { changeReport } from '../../transfer/transfer.js';
import type { TriedDraft } from '../../transfer/try-draft.js';
import {
	AppliedDraft,
	Draft,
	DraftPreview,
	maxDraftChanges,
	maxPreviewFiles,
	maxPreviewLength,
} from '../../wire/general/draft.js';
import { maxListedChanges } from '../../wire/general/environment-import.js';
import { EnvironmentPath, endpoint, mayWrite, revisionHeader } from '../access.js';
import { withoutAddresses } from './changes.js';

const tag = 'Drafts';
const collection = '/v2/projects/:proj_id/envs/:env_id/drafts';
const rules =
	`A draft has at most ${maxDraftChanges} changes, in any order, at most one per object. \`create\` and \`update\` ` +
	'contain the complete new object, as in a document. The objects in the draft must not have changed since ' +
	'`base_revision`; changes to other objects do not matter.';
const example = {
	base_revision: 12,
	changes: [
		{ kind: 'role', operation: 'create', key: 'reader', value: { name: 'Reader', permissions: ['document:read'] } },
		{ kind: 'role', operation: 'delete', key: 'viewer' },
		{
			kind: 'role_assignment',
			operation: 'create',
			value: { user: 'alice@example.com', role: 'reader', tenant: 'acme' },
		},
	],
};
const failures = {
	400: 'An API rule is violated: a built-in object would change, or a limit would be exceeded',
	404: 'No such environment, an object to change or delete does not exist, or a value refers to a missing object',
	409:
		'An object in the draft has changed since `base_revision`: `additional_info.conflicts` lists each conflict with ' +
		'its location in the draft, `at`, and with `revision`, `operation` and `actor`. Or an object to create already ' +
		'exists',
};

/** Drafts: sets of changes that are previewed and applied together. */
export const drafts = [
	endpoint({
		...methods({ tag, path: `${collection}/apply`, params: EnvironmentPath }).post,
		name: 'applyDraft',
		summary: 'Apply a draft, all changes or none',
		description: `${rules} All changes share one revision. The response includes cascading deletions.`,
		access: 'environment.apply',
		body: Draft,
		example,
		returns: { 200: AppliedDraft },
		failures,
		handle: async ({ body }, { writing }) => {
			const { value, revision, lineage } = await writing(async (unit) => {
				await applyDraft(unit, body);
				return changeReport(unit.changes);
			});
			return reply(200, { revision, changes: value }, revisionHeader(revision, lineage));
		},
	}),
	endpoint({
		...methods({ tag, path: `${collection}/preview`, params: EnvironmentPath }).post,
		name: 'previewDraft',
		summary: 'Preview the changes and the Rego of a draft',
		description:
			`${rules} Nothing changes, and read-only access is enough. The preview applies the draft to a snapshot and ` +
			'rolls it back. The preview fails if applying the draft would fail. Each environment runs one ' +
			'preview at a time, and a few more can wait.',
		access: 'environment.try',
		body: Draft,
		example,
		returns: { 200: DraftPreview },
		failures: { ...failures, 429: 'Too many previews are queued for the environment' },
		handle: async ({ body }, { trying, caller }) => {
			const tried = await trying(body, async () => null);
			const shown = mayWrite(caller) ? tried : { ...tried, changes: tried.changes.map(withoutAddresses) };
			return reply(200, await describePreview(body, shown), revisionHeader(tried.revision));
		},
	}),
];

async function describePreview({ base_revision }: Draft, tried: TriedDraft<unknown>): Promise<DraftPreview> {
	const { revision, changes, schemaBefore, schemaAfter } = tried;
	const listed = asManyAsFit(changes, maxListedChanges);
	const { files, diagnostics, failure } = await compareRego(schemaBefore, schemaAfter);
	const shown = asManyAsFit(files, maxPreviewFiles);
	return {
		base_revision,
		revision,
		total: changes.length,
		changes: listed,
		truncated: listed.length < changes.length,
		policy: {
			files: shown,
			truncated: shown.length < files.length,
			diagnostics: diagnostics.slice(0, maxProblems).map(({ at, ...found }) => ({ ...found, at: [...at] })),
			failure,
		},
	};
}

/** Returns the first items that fit into a response. */
function asManyAsFit<T>(items: readonly T[], most: number): T[] {
	const shown: T[] = [];
	let left = maxPreviewLength;
	for (const item of items.slice(0, most)) {
		left -= JSON.stringify(item).length;
		if (left < 0) break;
		shown.push(item);
	}
	return shown;
}
