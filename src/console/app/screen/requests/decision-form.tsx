import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { askedInstance } from '../../../model/held-role.js';
import { type ExpiryText, expiryMember } from '../../../model/instants.js';
import { requesterName, requestSubject } from '../../../model/wording.js';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { Button } from '../../../part/button.js';
import { ExpiryField } from '../../../part/expiry-field.js';
import type { ReviewMove } from '../../../part/listen-for-review-keys.js';
import { LongText } from '../../../part/long-text.js';
import { SelectField } from '../../../part/select-field.js';
import { setter } from '../../../part/setter.js';
import { management } from '../../api.js';
import { confirmWrite } from '../../part/confirm.js';
import { useLoaded } from '../../use-loaded.js';
import type { ListedRequest } from './listed-request.js';
import { RequestMeaning } from './request-meaning.js';

interface DecisionFormProps {
	readonly request: ListedRequest;
	readonly move: ReviewMove;
	readonly onDone: () => void;
	readonly onBack: () => void;
}

const labels = { approve: 'Approve', deny: 'Deny' } as const;

/** Form for a review: a comment and, for an approval, the role and its expiry. */
export function DecisionForm({ request, move, onDone, onBack }: DecisionFormProps) {
	const asked = request.type === 'access_request' ? request.access_request_details.role : null;
	const role = useSignal(asked);
	const end = useSignal<ExpiryText>('');
	const comment = useSignal('');
	const work = useWork();
	const form = useRef<HTMLFormElement>(null);
	// Take focus before the next key press. Without this, nothing has focus after the form opens by keyboard.
	useLayoutEffect(() => form.current?.querySelector<HTMLElement>('select, textarea')?.focus(), []);
	const send = async () => {
		const title = `${labels[move]} the request`;
		if (!(await confirmWrite(title, `${requesterName(request)} requests ${requestSubject(request)}.`))) return;
		await decide(request.id, move, {
			...(comment.value.trim() !== '' && { reviewer_comment: comment.value.trim() }),
			...(move === 'approve' && role.value !== null && role.value !== asked && { role: role.value }),
			...(move === 'approve' && expiryMember(end.value)),
		});
		onDone();
	};
	return (
		<form
			ref={form}
			class="requests-decision"
			aria-label={`${labels[move]} the request from ${requesterName(request)}`}
			onSubmit={work.submit(send)}
		>
			{move === 'approve' && role.value !== null && (
				<RoleField request={request} role={role.value} onRole={setter(role)} />
			)}
			{move === 'approve' && <ExpiryField end={end} latest={request.access_request_details.expires_at} />}
			<LongText label="Comment for the requester (optional)" text={comment} />
			{move === 'approve' && <RequestMeaning request={request} otherRole={role.value} />}
			<div class="line">
				<SubmitButton work={work} class={move === 'approve' ? 'primary' : 'danger'}>
					{labels[move]}
				</SubmitButton>
				<Button onClick={onBack}>Cancel</Button>
			</div>
			<Failure text={work.failure} />
		</form>
	);
}

interface RoleFieldProps {
	readonly request: ListedRequest;
	/** Role id. */
	readonly role: string;
	readonly onRole: (id: string) => void;
}

/** Selection among the roles that can be assigned in the request's tenant or on its instance. */
function RoleField({ request, role, onRole }: RoleFieldProps) {
	const asked = request.type === 'access_request' ? request : null;
	const { value: roles } = useLoaded((signal) => readRoles(request, signal), [request.id]);
	const offered = roles ?? [];
	const known = offered.some(({ id }) => id === asked?.access_request_details.role);
	const shown = known || asked === null ? offered : [askedRole(asked), ...offered];
	return (
		<SelectField
			label="Role"
			value={role}
			options={shown.map(({ id, key, name }) => [id, name === key ? key : `${name} (${key})`])}
			onValue={onRole}
		/>
	);
}

function askedRole(asked: Extract<ListedRequest, { readonly type: 'access_request' }>) {
	return { id: asked.access_request_details.role, key: asked.role_key, name: asked.role_name };
}

const mostRoles = 100;

async function readRoles(request: ListedRequest, signal: AbortSignal) {
	const query = { per_page: mostRoles };
	const resource_id = askedInstance(request) === null ? null : request.resource_key;
	const found =
		resource_id === null
			? await management.get('/v2/schema/{proj_id}/{env_id}/roles', { query, signal })
			: await management.get('/v2/schema/{proj_id}/{env_id}/resources/{resource_id}/roles', {
					path: { resource_id },
					query,
					signal,
				});
	return Array.isArray(found) ? found : found.data;
}

interface Decided {
	readonly reviewer_comment?: string;
	readonly role?: string;
	readonly expires_at?: string;
}

async function decide(element_request_id: string, move: ReviewMove, body: Decided): Promise<void> {
	const options = { path: { element_request_id }, body };
	await (move === 'approve'
		? management.put('/v2/facts/{proj_id}/{env_id}/element_requests/{element_request_id}/approve', options)
		: management.put('/v2/facts/{proj_id}/{env_id}/element_requests/{element_request_id}/deny', options));
}
