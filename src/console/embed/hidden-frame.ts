/** Timeout for a page in a hidden frame, in milliseconds. */
const patience = 10_000;

interface SignInResult {
	readonly success?: unknown;
	readonly me?: unknown;
	readonly error?: unknown;
}

/**
 * Loads a URL in a hidden frame and waits for the sign-in result posted by its page. Accepts messages only from
 * this frame and from `origin`. Resolves to the signed-in user. Rejects with the reason, or after a timeout.
 */
export function awaitResult(url: string, origin: string): Promise<unknown> {
	return new Promise((resolve, reject) => {
		const frame = addFrame(url);
		const end = (settle: () => void) => {
			clearTimeout(timer);
			removeEventListener('message', listen);
			frame.remove();
			settle();
		};
		const listen = ({ origin: from, source, data }: MessageEvent<SignInResult | null>) => {
			if (from !== origin || source !== frame.contentWindow || typeof data?.success !== 'boolean') return;
			if (data.success) end(() => resolve(data.me));
			else end(() => reject(new Error(String(data.error))));
		};
		const timer = setTimeout(
			() => end(() => reject(new Error('the sign-in timed out; check that elements_origins contains this origin'))),
			patience,
		);
		addEventListener('message', listen);
	});
}

/** Loads a URL in a hidden frame. Resolves when it is loaded, or after a timeout. */
export function hiddenFrame(url: string): Promise<void> {
	return new Promise((resolve) => {
		const frame = addFrame(url);
		const end = () => {
			frame.remove();
			resolve();
		};
		// An empty response fires no load event.
		const timer = setTimeout(end, patience / 5);
		frame.addEventListener('load', () => {
			clearTimeout(timer);
			end();
		});
	});
}

function addFrame(url: string): HTMLIFrameElement {
	const frame = document.createElement('iframe');
	frame.hidden = true;
	frame.title = 'Sign-in';
	frame.referrerPolicy = 'no-referrer';
	frame.src = url;
	document.body.append(frame);
	return frame;
}
