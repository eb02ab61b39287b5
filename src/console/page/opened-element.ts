import type { components } from '#management-api';
import { ApiFailure } from '../model/api-failure.js';
import type { ElementConfig, ElementRuntime, PermissionLevel } from '../model/api-types.js';
import type { ElementAddress } from '../model/element/element-address.js';
import type { ApiClient } from './api-client.js';

/** The signed-in user, with tenant and environment. */
type Actor = components['schemas']['ElementActor']['actor'];

/** Element opened by a signed-in user. */
export interface OpenedElement {
	readonly actor: Actor;
	readonly config: ElementConfig;
	readonly level: PermissionLevel;
	/** Instance shown by the page; `null` if the page shows the tenant. */
	readonly instance: string | null;
	/** Resource of the instance, if the element reveals it. */
	readonly resourceId: string | null;
	readonly api: ApiClient;
	/** Returns an element's path in this environment; default: this element. */
	path(element?: string): string;
	/** Returns the element named by a setting; `null` if it names none. */
	linked(setting: string): Promise<ElementConfig | null>;
}

/** Reason why an element is not shown. */
export interface Refusal {
	readonly title: string;
	readonly text: string;
}

/** Setting that names the element whose owners review the requests (docs/develop/contract.md: Elements). */
export const reviewersSetting = 'user_management_element';
/** Setting that names the access request element to review or show. */
export const requestsSetting = 'access_request_element';
/** Setting that names the operation approval element to review. */
export const approvalsSetting = 'operation_approval_element';

const signInAgain: Refusal = {
	title: 'You are not signed in',
	text: 'Sign in to the application again, then retry.',
};

/** Refusal for a user who has no session. */
export const signedOut = signInAgain;

/**
 * Opens an element for the signed-in user. Reads the user, the element and the user's level. `environment` is the id of
 * the environment for which the page was served. Throws `ApiFailure`.
 */
export async function openElement(
	api: ApiClient,
	address: ElementAddress,
	environment: string | null,
): Promise<OpenedElement | Refusal> {
	const { actor } = await api.get<{ readonly actor: Actor }>('/v2/auth/me');
	if (environment !== null && actor.env_id !== environment) return signInAgain;
	if (address.tenantKey !== null && actor.tenant_key !== address.tenantKey) {
		return {
			title: signInAgain.title,
			text: 'You are signed in to a different tenant. Sign in to the application again.',
		};
	}
	const configs = `/v2/elements/${actor.proj_id}/${actor.env_id}/config`;
	const path = (element = address.elementKey) => `${configs}/${encodeURIComponent(element)}`;
	const runtime = (element: string) =>
		api.get<ElementRuntime>(`${path(element)}/runtime`, { resource_instance_id: address.resourceInstanceKey });
	const { config, current_permission_level: level, resource_id } = await runtime(address.elementKey);
	if (level === 'HIDDEN') return { title: config.name, text: 'You do not have access to this page.' };
	// This call only marks the element as active, so ignore its failure.
	if (!config.is_active) api.send('POST', `${path()}/data/active`).catch(() => {});
	return {
		actor,
		config,
		level,
		instance: address.resourceInstanceKey,
		resourceId: resource_id,
		api,
		path,
		linked: async (setting) => {
			const named = config.settings[setting];
			if (named === undefined) return null;
			return runtime(String(named)).then(({ config: found }) => found, unlessMissing);
		},
	};
}

function unlessMissing(error: unknown): null {
	if (error instanceof ApiFailure && error.status === 404) return null;
	throw error;
}

/** True for an opened element, false for a refusal. */
export function isOpened(result: OpenedElement | Refusal): result is OpenedElement {
	return 'actor' in result;
}
