import type { Endpoint } from '../../http/endpoint.js';
import type { Surround } from '../../http/mount.js';
import { Turns } from '../../limit/turns.js';
import type { Access, Contexts } from '../access.js';
import { readCredentials } from '../console/credentials.js';
import { requireOwnOrigin } from '../console/own-origin.js';
import { sessionCookieHeader } from '../console/session-cookie.js';
import type { Admit, Guarded } from './access-rule.js';
import * as ofConsole from './console-access.js';
import * as ofElements from './element-access.js';
import * as ofEnvironments from './environment-access.js';
import * as ofOrganizations from './organization-access.js';
import { addHeaders } from './write-environment.js';

/**
 * Maximum number of waiting draft previews per environment. The number is small because a preview may delay writers.
 */
const maxWaitingPreviews = 4;

/**
 * Limits for decision log deliveries. With two running deliveries, a request waits for at most two delivery statements.
 */
const deliveryTurns = { running: 2, waiting: 32 };

/** The access rules, keyed by name. See `Contexts`. */
const rules: { readonly [A in Access]: Admit<Contexts[A]> } = {
	public: ofOrganizations.openAccess,
	probe: ofOrganizations.probeAccess,
	metrics: ofOrganizations.metricsAccess,
	key: ofOrganizations.keyAccess,
	'organization.read': ofOrganizations.organizationReadAccess,
	'organization.write': ofOrganizations.organizationWriteAccess,
	'keys.manage': ofOrganizations.keysManageAccess,
	'keys.read': ofOrganizations.keysReadAccess,
	'project.read': ofOrganizations.projectReadAccess,
	'project.write': ofOrganizations.projectWriteAccess,
	'project.delete': ofOrganizations.projectDeleteAccess,
	'environment.read': ofEnvironments.environmentReadAccess,
	'environment.own': ofEnvironments.environmentOwnAccess,
	'environment.report': ofEnvironments.environmentReportAccess,
	'environment.copy': ofEnvironments.environmentCopyAccess,
	'environment.snapshot': ofEnvironments.environmentSnapshotAccess,
	'environment.export': ofEnvironments.environmentExportAccess,
	'environment.write': ofEnvironments.environmentWriteAccess,
	'environment.apply': ofEnvironments.environmentApplyAccess,
	'environment.try': ofEnvironments.environmentTryAccess,
	'environment.impact': ofEnvironments.environmentImpactAccess,
	'environment.manage': ofEnvironments.environmentManageAccess,
	'environment.sign_in': ofEnvironments.environmentSignInAccess,
	'environment.sessions': ofEnvironments.environmentSessionsAccess,
	'element.enter': ofElements.elementEnterAccess,
	'element.session': ofElements.elementSessionAccess,
	'element.read': ofElements.elementReadAccess,
	'element.write': ofElements.elementWriteAccess,
	'console.enter': ofConsole.consoleEnterAccess,
	'console.ask': ofConsole.consoleAskAccess,
	'console.watch': ofConsole.consoleWatchAccess,
};

/** Wraps each management API handler with authentication, scope, unit of work and `X-Revision`. */
export function guard(guarded: Guarded): Surround {
	const previews = new Turns({ running: Number.POSITIVE_INFINITY, waiting: maxWaitingPreviews });
	const deliveries = new Turns(deliveryTurns);
	return async (declared, request, run) => {
		const access = declaredAccess(declared);
		// Each rule passes the context for its own access name, and `declaring` ties each handler to its access name.
		const admit = rules[access];
		const visit = { ...guarded, request, method: declared.method, previews, deliveries };
		const session = takesSession(access) ? readCredentials(request).session : undefined;
		if (session === undefined) return admit(visit, run);
		if (declared.method !== 'get') requireOwnOrigin(request.headers);
		const answer = await admit(visit, run);
		if (access === 'console.watch') return answer;
		const secret = await guarded.store.consoleSessions.rotate(session);
		if (secret === null) return answer;
		const cookie = sessionCookieHeader(request.headers, { ...session, secret });
		return addHeaders(answer, { 'set-cookie': cookie, 'cache-control': 'no-store' });
	};
}

/** True if the guard handles console sessions for an endpoint: it checks the origin and replaces the session secret. */
function takesSession(access: Access): boolean {
	return access !== 'public' && access !== 'probe' && access !== 'console.enter' && !access.startsWith('element.');
}

function declaredAccess(declared: Endpoint<string, never>): Access {
	// Only `endpoint` declares endpoints of this API, and it accepts only the names in `Access`.
	return declared.access as Access;
}
