import { ApiFailure } from '../model/api-failure.js';
import type { Actor, ElementConfig, ElementRuntime, PermissionLevel } from '../model/api-types.js';
import type { ElementAddress } from '../model/element/element-address.js';
import type { ApiClient } from './api-client.js';

/** An element that a signed-in user has open. */
export interface OpenedElement {
	readonly actor: Actor;
	readonly config: ElementConfig;
	readonly level: PermissionLevel;
	/** The instance that the page is about; `null` for the tenant. */
	readonly instance: string | null;
	/** The resource of that instance, where the element tells it. */
	readonly resourceId: string | null;
	readonly api: ApiClient;
	/** The path of an element of this environment, this one by default. */
	path(element?: string): string;
	/** Another element of this environment, which a setting of this one names; `null` where there is none. */
	linked(setting: string): Promise<ElementConfig | null>;
}

/** Why an element is not shown, for a person. */
export interface Refusal {
	readonly title: string;
	readonly text: string;
}

/** The settings by which elements name each other (docs/contract.md: Elements). */
export const reviewersSetting = 'user_management_element';
/** The element of access requests that the owners of a user management element review, or whose requests are shown. */
export const requestsSetting = 'access_request_element';
/** The element of operation approvals that an `approval_management` element shows. */
export const approvalsSetting = 'operation_approval_element';

const signInAgain: Refusal = {
	title: 'You are not signed in',
	text: 'Sign in again in the application, then try again.',
};

/** The refusal of who is not signed in, here or at all. */
export const signedOut = signInAgain;

/**
 * Opens the element of an address for whoever is signed in: asks who that is, then for the element and the level in it.
 * `environment` is the id of the one that the page was served for. Throws `ApiFailure`.
 */
export async function openElement(
	api: ApiClient,
	address: ElementAddress,
	environment: string | null,
): Promise<OpenedElement | Refusal> {
	const { actor } = await api.get<{ readonly actor: Actor }>('/v2/auth/me');
	if (environment !== null && actor.env_id !== environment) return signInAgain;
	if (address.tenantKey !== null && actor.tenant_key !== address.tenantKey) {
		return { title: signInAgain.title, text: 'You are signed in to another tenant. Sign in again in the application.' };
	}
	const configs = `/v2/elements/${actor.proj_id}/${actor.env_id}/config`;
	const path = (element = address.elementKey) => `${configs}/${encodeURIComponent(element)}`;
	const runtime = (element: string) =>
		api.get<ElementRuntime>(`${path(element)}/runtime`, { resource_instance_id: address.resourceInstanceKey });
	const { config, current_permission_level: level, resource_id } = await runtime(address.elementKey);
	if (level === 'HIDDEN') return { title: config.name, text: 'You may not see this.' };
	// It only notes that the element is in use: nothing here depends on it.
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

/** Whether an element was opened, or refused. */
export function isOpened(result: OpenedElement | Refusal): result is OpenedElement {
	return 'actor' in result;
}
