import { awaitResult, hiddenFrame } from './hidden-frame.js';
import { sendToken } from './send-token.js';

/** Sign-in options: the front-end package's options, and `origin`. */
export interface LoginOptions {
	/**
	 * Sign-in method; default: `cookie`. `header` and `bearer` mean `cookie`, with headers for the application's
	 * backend.
	 */
	readonly loginMethod?: 'cookie' | 'header' | 'bearer' | 'frontendOnly' | 'supportsPrivateBrowser';
	/** Route in the application's backend that signs in the backend's user. */
	readonly loginUrl?: string;
	readonly tenant?: string;
	/** Token for the application's backend, sent as `Authorization: Bearer`. */
	readonly token?: string;
	/** Headers for the application's backend. */
	readonly headers?: Readonly<Record<string, string>>;
	/** With `frontendOnly`: the application's token, the environment, and the claim with the user's key. */
	readonly userJwt?: string;
	readonly envId?: string;
	readonly userKeyClaim?: string;
	/** Alias for `origin`. */
	readonly permitApiUrl?: string;
	/** With `supportsPrivateBrowser`: the frame's `src` on the page. */
	readonly elementIframeUrl?: string;
	/** Regolith's origin; default: this script's origin. */
	readonly origin?: string;
}

/** Options for accepting an invite. */
export interface ApproveOptions {
	readonly inviteCode: string;
	readonly email: string;
	/** The application's token for the invited user. */
	readonly token: string;
	readonly envId: string;
	readonly user_key_claim?: string;
	readonly attributes?: object;
	readonly origin?: string;
}

/** Signs a page's user in to the embedded elements, and out again. */
export class PageElements {
	/** True if a user is signed in. */
	isConnected = false;
	/** The signed-in user, if the sign-in returned it. */
	me: unknown = undefined;
	#token: string | null = null;
	/** Origin used by the current sign-in. */
	#origin: string;

	/** `ownOrigin` is Regolith's origin for calls that do not specify one. */
	constructor(private readonly ownOrigin: string) {
		this.#origin = ownOrigin;
	}

	/** Signs in. Resolves to `true`. Rejects with the reason if the sign-in fails. */
	readonly login = async (options: LoginOptions): Promise<boolean> => {
		const { loginMethod = 'cookie' } = options;
		const origin = options.origin ?? options.permitApiUrl ?? this.ownOrigin;
		this.#origin = origin;
		if (loginMethod === 'supportsPrivateBrowser') await this.#loginByToken(options, origin);
		else this.me = await awaitResult(await this.#frameUrl(options, origin), origin);
		this.isConnected = true;
		return true;
	};

	/**
	 * Signs out. Loads `logoutUrl` in a hidden frame if it is set; otherwise ends the cookie session and the bearer token
	 * session.
	 */
	readonly logout = async (logoutUrl?: string): Promise<boolean> => {
		const token = this.#token;
		this.#token = null;
		this.isConnected = false;
		this.me = undefined;
		if (logoutUrl !== undefined) {
			await hiddenFrame(logoutUrl);
			return true;
		}
		const url = `${this.#origin}/v2/auth/logout`;
		await fetch(url, { method: 'POST', credentials: 'include', referrerPolicy: 'no-referrer' });
		if (token !== null) await fetch(url, { method: 'POST', credentials: 'omit', ...bearing(token) });
		return true;
	};

	/** Accepts an invite. Resolves to the resulting user. */
	readonly approve = async (options: ApproveOptions): Promise<unknown> => {
		const {
			inviteCode,
			email,
			token,
			envId,
			user_key_claim = 'sub',
			attributes = {},
			origin = this.ownOrigin,
		} = options;
		const path = `/v2/auth/${encodeURIComponent(envId)}/user_invites/${encodeURIComponent(inviteCode)}/approve`;
		return post(`${origin}${path}`, { email, user_key_claim, attributes }, bearing(token).headers);
	};

	async #loginByToken({ loginUrl, elementIframeUrl, tenant, token, headers }: LoginOptions, origin: string) {
		if (!loginUrl || !elementIframeUrl)
			throw new Error('supportsPrivateBrowser requires loginUrl and elementIframeUrl');
		const answer = await post(loginUrl, { tenant }, headers ?? (token ? bearing(token).headers : {}), 'include');
		const { url, element_bearer_token = url } = answer as { url?: unknown; element_bearer_token?: unknown };
		if (typeof element_bearer_token !== 'string') throw new Error('loginUrl returned no bearer token');
		this.#token = element_bearer_token;
		await sendToken(element_bearer_token, elementIframeUrl, origin);
	}

	/** Returns the URL for the frame that completes a cookie sign-in. */
	async #frameUrl(options: LoginOptions, origin: string): Promise<string> {
		const { loginMethod, loginUrl, tenant, token, headers, userJwt, envId, userKeyClaim } = options;
		if (loginMethod === 'frontendOnly') {
			if (!userJwt || !envId || !tenant) throw new Error('frontendOnly requires userJwt, envId and tenant');
			const url = `${origin}/v2/auth/${encodeURIComponent(envId)}/elements_fe_login_as`;
			const body = { tenant_id: tenant, user_jwt: userJwt, ...(userKeyClaim && { user_key_claim: userKeyClaim }) };
			await post(url, body, {}, 'include');
			return url;
		}
		if (!loginUrl) throw new Error(`${loginMethod ?? 'cookie'} requires loginUrl`);
		if (loginMethod === 'header' || loginMethod === 'bearer') {
			const { url } = (await post(
				loginUrl,
				{ tenant },
				headers ?? (token ? bearing(token).headers : {}),
				'include',
			)) as {
				readonly url?: unknown;
			};
			if (typeof url !== 'string') throw new Error('loginUrl returned no url');
			return url;
		}
		const url = new URL(loginUrl, location.href);
		if (tenant !== undefined) url.searchParams.set('tenant', tenant);
		return url.href;
	}
}

function bearing(token: string) {
	return { headers: { authorization: `Bearer ${token}` } };
}

/** Posts JSON and reads a JSON response. Throws if the request is rejected. */
async function post(
	url: string,
	body: object,
	headers: Readonly<Record<string, string>>,
	credentials: RequestCredentials = 'omit',
): Promise<unknown> {
	const answer = await fetch(url, {
		method: 'POST',
		headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
		body: JSON.stringify(body),
		credentials,
		referrerPolicy: 'no-referrer',
	});
	const text = await answer.text();
	if (!answer.ok)
		throw new Error(`${new URL(url, location.href).pathname} returned ${answer.status}: ${text.slice(0, 300)}`);
	return text === '' ? undefined : JSON.parse(text);
}
