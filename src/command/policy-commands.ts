import { policyDifference } from './policy-difference.js';
import { writePolicyFolder } from './policy-folder.js';
import { type PolicyPlace, readFacts, readNewestPolicy, readPolicyAt } from './policy-source.js';

/** What `regolith policy` writes. */
export interface PolicyRequest {
	/** The folder to write to. */
	readonly out: string;
	/** The policy in force at a revision; without one, the newest. */
	readonly revision?: string;
	/** Whether to write the current facts as well. */
	readonly facts?: true;
}

/** Writes an environment's policy as a folder for `opa`; returns what to print about it. Throws `ConfigError`. */
export async function writePolicy(place: PolicyPlace, { out, revision, facts }: PolicyRequest): Promise<string> {
	const found = await foundAt(place, revision);
	const files = [...found.files, ...(facts ? [await readFacts(place)] : [])];
	writePolicyFolder(out, files);
	const { failure } = found;
	const lines = [
		`# ${place.project}/${place.environment}: policy ${found.hash} of schema revision ${found.schema_revision}`,
		...(failure ? [`# FAILED at revision ${failure.revision}: ${failure.message}`] : []),
		`# ${files.length} files; to test them: opa test ${out}`,
	];
	return `${lines.join('\n')}\n`;
}

/** What changed between two revisions of an environment, as `regolith diff` prints it. Throws `ConfigError`. */
export async function diffPolicies(place: PolicyPlace, from: string, to: string | undefined): Promise<string> {
	return policyDifference(await foundAt(place, from), await foundAt(place, to));
}

function foundAt(place: PolicyPlace, revision: string | undefined) {
	return revision === undefined ? readNewestPolicy(place) : readPolicyAt(place, revision);
}
