import { createHash } from 'node:crypto';
import { Raw } from '../../http/endpoint.js';
import type { Environment } from '../../store/table/account.js';
import type { ElementActor } from '../../wire/element/element-session.js';
import { elementSettings } from '../../wire/general/environment.js';

/** Message to the embedding page. */
export type SignInMessage =
	| { readonly success: true; readonly me: ElementActor }
	| { readonly success: false; readonly error: string };

/** Posts to each allowed origin; the browser delivers only to the matching origin. */
const script = `const { message, origins } = JSON.parse(document.getElementById('told').textContent);
for (const origin of origins) if (parent !== window) parent.postMessage(message, origin);`;

const scriptHash = createHash('sha256').update(script).digest('base64');

/** Headers for all sign-in responses. They forbid caching and referrers. */
export const signInHeaders = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } as const;

/**
 * Renders the last page in a browser sign-in. If the environment allows the embedding page's origin, the page posts
 * `message` to it. The page loads nothing and runs a single script, which its content security policy allows by hash.
 */
export function signInPage(message: SignInMessage, environment: Pick<Environment, 'settings'> | null): Raw {
	const { origins } = elementSettings(environment?.settings ?? null);
	const policy = [
		"default-src 'none'",
		`script-src 'sha256-${scriptHash}'`,
		"base-uri 'none'",
		"form-action 'none'",
		`frame-ancestors ${origins.length > 0 ? origins.join(' ') : "'none'"}`,
	];
	const headers = {
		...signInHeaders,
		'content-type': 'text/html; charset=utf-8',
		'content-security-policy': policy.join('; '),
		'x-content-type-options': 'nosniff',
	};
	return new Raw(message.success ? 200 : 401, headers, html(message, origins));
}

function html(message: SignInMessage, origins: readonly string[]): string {
	// Only `<` can end the script element early.
	const told = JSON.stringify({ message, origins }).replaceAll('<', '\\u003c');
	const shown = message.success ? 'You are signed in.' : 'You are not signed in.';
	return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign-in</title></head>
<body>
<p>${shown}</p>
<script type="application/json" id="told">${told}</script>
<script>${script}</script>
</body>
</html>
`;
}
