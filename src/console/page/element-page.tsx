import { signal } from '@preact/signals';
import { render } from 'preact';
import { ApiFailure } from '../model/api-failure.js';
import { readElementAddress } from '../model/element/element-address.js';
import { visibleText } from '../model/visible-text.js';
import { Announcement } from '../part/announce.js';
import { Button } from '../part/button.js';
import { createApiClient } from './api-client.js';
import { ApprovalManagement } from './approval-management.js';
import './element-page.css';
import { messageOf } from '../part/message-of.js';
import { DecisionLog } from './decision-log.js';
import { listenForToken } from './listen-for-token.js';
import { isOpened, type OpenedElement, openElement, type Refusal, signedOut } from './opened-element.js';
import { requestKind } from './request-kind.js';
import { Requests } from './requests.js';
import { UserManagement } from './user-management.js';

/** Element page: finds the signed-in user and the element, and then shows the element. */

const address = readElementAddress(location);
const environment = metadata('regolith-environment') || null;
const origins = metadata('regolith-origins').split(' ').filter(Boolean);

/** Bearer token from the embedding page. It is stored only here. */
let token: string | null = null;

const shown = signal<OpenedElement | Refusal | 'loading' | 'waiting'>('loading');

const api = createApiClient(
	() => token,
	() => {
		shown.value = signedOut;
	},
);

if (address.darkMode !== null) document.documentElement.dataset['theme'] = address.darkMode ? 'dark' : 'light';
render(<ElementPage />, document.body);
if (address.byToken) {
	shown.value = 'waiting';
	listenForToken(origins, (sent) => {
		token = sent;
		// If an element is already open, it uses the newer token for its next calls.
		if (!isShown()) void open();
	});
} else void open();

function isShown(): boolean {
	return typeof shown.value === 'object' && isOpened(shown.value);
}

async function open(): Promise<void> {
	shown.value = 'loading';
	try {
		shown.value = await openElement(api, address, environment);
	} catch (error) {
		shown.value = shownRefusal(error);
	}
}

function shownRefusal(error: unknown): Refusal {
	const status = error instanceof ApiFailure ? error.status : null;
	if (status === 401) return signedOut;
	if (status === 404) return { title: 'Element not found', text: `Element ${address.elementKey} does not exist.` };
	return { title: 'This element cannot be displayed', text: messageOf(error) };
}

function metadata(name: string): string {
	return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

function ElementPage() {
	return (
		<main>
			<Announcement />
			<Content />
		</main>
	);
}

function Content() {
	const now = shown.value;
	if (now === 'loading') return <p class="quiet">Loading…</p>;
	if (now === 'waiting') return <p class="quiet">Waiting for sign-in…</p>;
	if (!isOpened(now)) {
		return (
			<div role="alert">
				<h1>{visibleText(now.title)}</h1>
				<p>{visibleText(now.text)}</p>
				<Button onClick={() => void open()}>Try again</Button>
			</div>
		);
	}
	return (
		<>
			<h1>{visibleText(now.config.name)}</h1>
			<Element element={now} />
		</>
	);
}

function Element({ element }: { readonly element: OpenedElement }) {
	const kind = requestKind(element.config);
	if (kind !== null) return <Requests element={element} kind={kind} />;
	if (element.config.elements_type === 'user_management') return <UserManagement element={element} />;
	if (element.config.elements_type === 'approval_management') return <ApprovalManagement element={element} />;
	return <DecisionLog element={element} />;
}
