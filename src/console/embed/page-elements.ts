import { awaitResult, hiddenFrame } from './hidden-frame.js';
import { sendToken } from './send-token.js';

/** How to sign in. The members are those of the front-end package, and `origin`. */
export interface LoginOptions {
	/** `cookie` by default. `header` and `bearer` are `cookie` with headers for the application's backend. */
	readonly loginMethod?: 'cookie' | 'header' | 'bearer' | 'frontendOnly' | 'supportsPrivateBrowser';
	/** The route of the application's backend that signs its user in. */
	readonly loginUrl?: string;
	readonly tenant?: string;
	/** Shown to the application's backend as `Authorization: Bearer`. */
	readonly token?: string;
	/** Sent to the application's backend. */
	readonly headers?: Readonly<Record<string, string>>;
	/** With `frontendOnly`: the token of the application, the environment, and which claim holds the user's key. */
	readonly userJwt?: string;
	readonly envId?: string;
	readonly userKeyClaim?: string;
	/** Another name for `origin`. */
	readonly permitApiUrl?: string;
	/** With `supportsPrivateBrowser`: the `src` of the frame, as the page has it. */
	readonly elementIframeUrl?: string;
	/** The origin of Regolith; by default the one that this script was loaded from. */
	readonly origin?: string;
}

/** How a user accepts an invite. */
export interface ApproveOptions {
	readonly inviteCode: string;
	readonly email: string;
	/** The token of the application for the user who was invited. */
	readonly token: string;
	readonly envId: string;
	readonly user_key_claim?: string;
	readonly attributes?: object;
	readonly origin?: string;
}

/** Signs the user of a page in to the elements that it embeds, and out. */
export class PageElements {
	/** Whether a sign-in has succeeded that has not ended. */
	isConnected = false;
	/** Who is signed in, where the sign-in told it. */
	me: unknown = undefined;
	#token: string | null = null;
	/** Where the user is signed in. */
	#origin: string;

	/** `ownOrigin` is that of Regolith where a call names none. */
	constructor(private readonly ownOrigin: string) {
		this.#origin = ownOrigin;
	}

	/** Signs in. Resolves `true` once it is done; rejects with the reason if it fails. */
	readonly login = async (options: LoginOptions): Promise<boolean> => {
		const { loginMethod = 'cookie' } = options;
		const origin = options.origin ?? options.permitApiUrl ?? this.ownOrigin;
		this.#origin = origin;
		if (loginMethod === 'supportsPrivateBrowser') await this.#loginByToken(options, origin);
		else this.me = await awaitResult(await this.#frameUrl(options, origin), origin);
		this.isConnected = true;
		return true;
	};

	/** Signs out: the session ends, with its cookie and its bearer token. */
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

	/** Accepts an invite. Resolves with the user that it became. */
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
		if (!loginUrl || !elementIframeUrl) throw new Error('supportsPrivateBrowser needs loginUrl and elementIframeUrl');
		const answer = await post(loginUrl, { tenant }, headers ?? (token ? bearing(token).headers : {}), 'include');
		const { url, element_bearer_token = url } = answer as { url?: unknown; element_bearer_token?: unknown };
		if (typeof element_bearer_token !== 'string') throw new Error('loginUrl answered no bearer token');
		this.#token = element_bearer_token;
		await sendToken(element_bearer_token, elementIframeUrl, origin);
	}

	/** The address of the frame that ends a sign-in by cookie. */
	async #frameUrl(options: LoginOptions, origin: string): Promise<string> {
		const { loginMethod, loginUrl, tenant, token, headers, userJwt, envId, userKeyClaim } = options;
		if (loginMethod === 'frontendOnly') {
			if (!userJwt || !envId || !tenant) throw new Error('frontendOnly needs userJwt, envId and tenant');
			const url = `${origin}/v2/auth/${encodeURIComponent(envId)}/elements_fe_login_as`;
			const body = { tenant_id: tenant, user_jwt: userJwt, ...(userKeyClaim && { user_key_claim: userKeyClaim }) };
			await post(url, body, {}, 'include');
			return url;
		}
		if (!loginUrl) throw new Error(`${loginMethod ?? 'cookie'} needs loginUrl`);
		if (loginMethod === 'header' || loginMethod === 'bearer') {
			const { url } = (await post(
				loginUrl,
				{ tenant },
				headers ?? (token ? bearing(token).headers : {}),
				'include',
			)) as {
				readonly url?: unknown;
			};
			if (typeof url !== 'string') throw new Error('loginUrl answered no url');
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

/** Posts JSON and reads JSON. Throws when it is refused. */
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
		throw new Error(`${new URL(url, location.href).pathname} answered ${answer.status}: ${text.slice(0, 300)}`);
	return text === '' ? undefined : JSON.parse(text);
}
