import { writeFileSync } from 'node:fs';
import { archive as packFiles } from '../../../compiler/opa/archive.js';
import { ConfigError } from '../../config.js';
import type { Told } from '../declaration.js';
import { onFile } from '../on-file.js';
import { Session, type SharedOptions } from '../session.js';
import { policyDifference } from './policy-difference.js';
import { writePolicyFolder } from './policy-folder.js';
import { type PolicyPlace, policyPlace, readFacts, readNewestPolicy, readPolicyAt } from './policy-source.js';

export interface PolicyOptions extends SharedOptions {
	/** Folder to write to. */
	readonly output?: string;
	/** Deprecated alias for `output`. */
	readonly out?: string;
	/** Archive to write instead of a folder. */
	readonly archive?: string;
	/** Revision at which the policy was active; default: the newest. */
	readonly revision?: string;
	/** True to also write the current facts. */
	readonly facts?: true;
}

/** Writes an environment's policy as a folder for `opa`, or as an archive of the folder. */
export async function writePolicy(session: Session, options: PolicyOptions, environment?: string): Promise<Told> {
	const { output = options.out, archive, revision } = options;
	const target = output ?? archive;
	if (target === undefined) throw new ConfigError('--output: set it to the output folder, or --archive to a file');
	const place = await policyPlace(aboutEnvironment(session, options, environment));
	const found = await readChosenPolicy(place, revision);
	const files = [...found.files, ...(options.facts ? [await readFacts(place)] : [])];
	if (archive === undefined) writePolicyFolder(target, files);
	else {
		const tar = await packFiles(files.map(({ path, text }) => ({ path, content: text })));
		onFile(archive, () => writeFileSync(archive, tar));
	}
	const { failure, hash, schema_revision } = found;
	const lines = [
		`# ${place.name}: Rego hash ${hash}, schema revision ${schema_revision}`,
		...(failure ? [`# FAILED at revision ${failure.revision}: ${failure.message}`] : []),
		`# ${files.length} files written${archive === undefined ? `. Test them with: opa test ${target}` : ` to ${target}`}`,
	];
	const paths = files.map(({ path }) => path);
	return {
		text: `${lines.join('\n')}\n`,
		json: {
			environment: place.name,
			hash,
			schema_revision,
			failure,
			folder: output ?? null,
			archive: archive ?? null,
			files: paths,
		},
	};
}

/** Compares the policies at two revisions. Exit code 1 means a difference. */
export async function diffPolicies(
	session: Session,
	_: SharedOptions,
	from: string,
	to: string | undefined,
): Promise<Told> {
	const place = await policyPlace(session);
	const [before, after] = [await readChosenPolicy(place, from), await readChosenPolicy(place, to)];
	const difference = policyDifference(before, after);
	const changed = difference !== '';
	return {
		text: difference,
		document: true,
		json: { from: before.schema_revision, to: after.schema_revision, changed, difference },
		exit: changed ? 1 : 0,
	};
}

/** Returns the session for a command that also accepts its environment as an argument. */
function aboutEnvironment(session: Session, options: SharedOptions, environment: string | undefined): Session {
	if (environment === undefined) return session;
	if (options.environment !== undefined && options.environment !== environment) {
		throw new ConfigError(`--environment: differs from the argument \`${environment}\``);
	}
	return new Session(session.variables, { ...options, environment });
}

function readChosenPolicy(place: PolicyPlace, revision: string | undefined) {
	return revision === undefined ? readNewestPolicy(place) : readPolicyAt(place, revision);
}
