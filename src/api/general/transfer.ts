import { methods, Raw, reply } from '../../http/endpoint.js';
import { exportDocument, importDocument, importReport } from '../../transfer/transfer.js';
import {
	documentFormat,
	documentHalves,
	documentVersion,
	EnvironmentDocument,
	EnvironmentExport,
	ExportQuery,
} from '../../wire/general/environment-document.js';
import { ImportQuery, ImportReport } from '../../wire/general/environment-import.js';
import { RevisionAnswer } from '../../wire/headers.js';
import { EnvironmentPath, endpoint, revisionHeader } from '../access.js';

const tag = 'Environments';
const member = '/v2/projects/:proj_id/envs/:env_id';

/** Maximum document size in bytes. A document with a million users and short attributes fits. */
const maxDocumentBytes = 256 * 1024 * 1024;
/** Nesting depth at which maps such as `facts.users` have no size limit. The document itself has depth 1. */
const documentMapLevel = 3;

/** Environment export and import as a document. */
export const transfer = [
	endpoint({
		...methods({ tag, path: `${member}/export`, params: EnvironmentPath }).get,
		name: 'exportEnvironment',
		summary: 'Export an environment as a document with schema and facts',
		description:
			'Exports both halves, or one half, at the revision in `X-Revision`. The document uses keys and contains no ' +
			'ids, timestamps or secrets. Equal environments give identical bytes.',
		access: 'environment.export',
		query: ExportQuery,
		returns: { 200: EnvironmentExport },
		answerHeaders: RevisionAnswer,
		failures: { 404: 'No such project or environment' },
		handle: async ({ query: { half } }, { unit, environment }) => {
			const headers = { 'content-type': 'application/json', 'x-revision': String(environment.revision) };
			const halves = half === undefined ? documentHalves : [half];
			return new Raw(200, headers, await exportDocument(unit, environment, halves));
		},
	}),
	endpoint({
		...methods({ tag, path: `${member}/import`, params: EnvironmentPath }).post,
		name: 'importEnvironment',
		summary: 'Import a document into an environment',
		description:
			'Imports everything or nothing, under one revision. An existing object with different content fails the import, or ' +
			'is overwritten with `conflict_strategy=overwrite`. Objects missing from the document stay, or are deleted ' +
			'with `conflict_strategy=replace`. With `dry_run=true`, nothing changes, and the response lists the changes ' +
			'that the import would make. Unknown fields are rejected.',
		access: 'environment.apply',
		query: ImportQuery,
		body: EnvironmentDocument,
		largeBody: { bytes: maxDocumentBytes, mapLevel: documentMapLevel },
		example: {
			format: documentFormat,
			version: documentVersion,
			schema: {
				resources: { document: { name: 'Document', actions: { read: {}, write: {} } } },
				roles: { reader: { name: 'Reader', permissions: ['document:read'] } },
			},
			facts: {
				tenants: { acme: { name: 'Acme Inc.' } },
				users: { 'alice@example.com': { first_name: 'Alice' } },
				role_assignments: [{ user: 'alice@example.com', role: 'reader', tenant: 'acme' }],
			},
		},
		returns: { 200: ImportReport },
		failures: {
			400:
				'A permission does not have the form `resource:action`, a built-in attribute would change, or a role would be ' +
				'derived from too many roles in a cycle',
			404: 'The document refers to a missing object',
			409: 'An object exists with different content',
		},
		handle: async ({ query: { dry_run, conflict_strategy }, body }, { writing, trying }) => {
			const open = dry_run ? trying : writing;
			const { value, revision, lineage } = await open(async (unit) => {
				const outcome = await importDocument(unit, body, conflict_strategy);
				return importReport(unit.changes, dry_run, outcome);
			});
			return reply(200, value, revisionHeader(revision, lineage));
		},
	}),
];
