import { z } from 'zod';
import type { Told } from '../declaration.js';
import { parseObject } from '../parse-object.js';
import { parseResource } from '../resource-word.js';
import { requireAwaited } from '../revision-word.js';
import { askFor } from '../server.js';
import type { Session, SharedOptions } from '../session.js';
import { explainedText } from './explained-text.js';
import { decidedBy, decisionCode, Reasons } from './reasons.js';

export interface CheckOptions extends SharedOptions {
	readonly explain?: true;
	/** JSON object. */
	readonly context?: string;
	/** Revision to wait for. */
	readonly minRevision?: string;
}

const Decision = z.object({ allow: z.boolean(), debug: Reasons });

/** Checks whether a user may perform an action on a resource. */
export async function check(
	{ decisionPoint }: Session,
	{ tenant, explain, context, minRevision }: CheckOptions,
	user: string,
	action: string,
	resource: string,
): Promise<Told> {
	const body = {
		user,
		action,
		resource: { ...parseResource(resource), tenant },
		context: context === undefined ? undefined : parseObject('--context', context),
		use_debugger: explain ? 'attempts' : true,
	};
	const headers: Record<string, string> =
		minRevision === undefined ? {} : { 'x-min-revision': requireAwaited(minRevision) };
	const answer = await askFor(decisionPoint, '/allowed', Decision, { method: 'POST', body, headers });
	const { allow, debug } = answer.body;
	const decision = { allow, code: decisionCode(allow, debug), revision: answer.revision, reasons: decidedBy(debug) };
	const { attempts = [], truncated = false, granted = true } = debug;
	return {
		text: explainedText(decision, explain ? { attempts, truncated, granted } : null),
		json: explain ? { ...decision, attempts, truncated, granted } : decision,
		exit: allow ? 0 : 1,
	};
}
