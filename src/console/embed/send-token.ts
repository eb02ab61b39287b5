/** Interval between attempts in milliseconds, and maximum number of attempts. */
const interval = 400;
const attempts = 25;

/**
 * Sends a bearer token to the frame with this `src` until the frame's page confirms receipt. Sends the token only to
 * `origin`, so a frame with a different site receives nothing. Rejects if the frame does not respond.
 */
export function sendToken(token: string, frameUrl: string, origin: string): Promise<void> {
	const to = new URL(frameUrl, location.href).origin;
	if (to !== origin) return Promise.reject(new Error(`elementIframeUrl has the origin ${to} instead of ${origin}`));
	return new Promise((resolve, reject) => {
		let sent = 0;
		const end = (settle: () => void) => {
			clearInterval(timer);
			removeEventListener('message', listen);
			settle();
		};
		const listen = ({ origin: from, data }: MessageEvent<{ readonly type?: unknown } | null>) => {
			if (from === origin && data?.type === 'permitTokenReceived') end(resolve);
		};
		const send = () => {
			sent += 1;
			if (sent > attempts) return end(() => reject(new Error('the element did not accept the token')));
			findFrame(frameUrl)?.contentWindow?.postMessage({ type: 'permitToken', permitToken: token }, origin);
		};
		const timer = setInterval(send, interval);
		addEventListener('message', listen);
		send();
	});
}

function findFrame(url: string): HTMLIFrameElement | undefined {
	return [...document.querySelectorAll('iframe')].find(
		(frame) => frame.getAttribute('src') === url || frame.src === url,
	);
}
