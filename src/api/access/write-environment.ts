import { Raw } from '../../http/endpoint.js';
import type { Answer } from '../../http/mount.js';
import type { AnyRequest } from '../../http/received-request.js';
import { environmentScope } from '../../store/account/account.js';
import type { Environment } from '../../store/table/account.js';
import type { Actor } from '../../store/unit/caller-check.js';
import type { Committed } from '../../store/unit/queued-write.js';
import type { WritingUnit } from '../../store/unit/writing-unit.js';
import { revisionHeader } from '../access.js';
import type { Visit } from './access-rule.js';

/** Body size in bytes above which a write is treated as a bulk write. */
const heavyBytes = 32 * 1024;

/** True if the body is large or has no declared length. */
export function isHeavy({ headers }: AnyRequest): boolean {
	return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > heavyBytes;
}

/** Writes to an environment in a unit of work, and reports the new revision. */
export async function writeEnvironment<T>(
	{ store, wrote }: Visit,
	environment: Environment,
	actor: Actor,
	work: (unit: WritingUnit) => Promise<T>,
	heavy: boolean,
): Promise<Committed<T>> {
	const committed = await store.write(environmentScope(environment), actor, work, { heavy });
	wrote?.(environment.id, committed.revision);
	return committed;
}

/** Adds the revision and lineage headers to the response after a write. */
export function addRevision({ value, revision, lineage }: Committed<Answer>): Answer {
	return addHeaders(value, revisionHeader(revision, lineage));
}

export function addHeaders(answer: Answer, more: Readonly<Record<string, string>>): Answer {
	const headers = { ...answer.headers, ...more };
	return answer instanceof Raw ? new Raw(answer.status, headers, answer.bytes) : { ...answer, headers };
}
