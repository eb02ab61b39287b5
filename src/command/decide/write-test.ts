import { writeFileSync } from 'node:fs';
import { WrittenTest } from '../../wire/general/impact.js';
import type { Told } from '../declaration.js';
import { onFile } from '../on-file.js';
import { parseObject } from '../parse-object.js';
import { policyPlace, readNewestPolicy } from '../policy/policy-source.js';
import { parseResource } from '../resource-word.js';
import { requireRevision } from '../revision-word.js';
import { askFor, path } from '../server.js';
import type { Session, SharedOptions } from '../session.js';

export interface WriteTestOptions extends SharedOptions {
	/** JSON object. */
	readonly context?: string;
	/** Revision of the check; default: the newest. */
	readonly revision?: string;
	/** Output file; default: standard output. */
	readonly output?: string;
}

/** Writes a check with its decision as a test for `opa test`. */
export async function writeTest(
	session: Session,
	{ tenant, context, revision, output }: WriteTestOptions,
	user: string,
	action: string,
	resource: string,
): Promise<Told> {
	const place = await policyPlace(session);
	const at = path`/v2/projects/${place.project}/envs/${place.environment}/explanation/test`;
	const body = {
		user,
		action,
		resource: { ...parseResource(resource), tenant },
		context: context === undefined ? undefined : parseObject('--context', context),
		revision:
			revision === undefined
				? (await readNewestPolicy(place)).revision
				: Number(requireRevision(revision, '--revision')),
	};
	const { text } = (await askFor(place.api, at, WrittenTest, { method: 'POST', body })).body;
	const json = { revision: body.revision, test: text };
	if (output === undefined) return { text, json, document: true };
	onFile(output, () => writeFileSync(output, text));
	return { text: `# Test written to ${output}\n`, json };
}
