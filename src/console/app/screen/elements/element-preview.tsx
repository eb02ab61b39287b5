import { useSignal } from '@preact/signals';
import { Failure, SubmitButton, useWork } from '../../../part/action-button.js';
import { bound } from '../../../part/setter.js';
import { management } from '../../api.js';
import { Combobox } from '../../part/field/combobox.js';
import { proposeTenants, proposeUsers } from '../../propose.js';
import { openSession } from '../../session.js';

/** Signs this browser in to the element as a tenant's user, and links to the element's page. */
export function ElementPreview({ element }: { readonly element: { readonly key: string; readonly name: string } }) {
	const { environment, key } = openSession();
	const user = useSignal('');
	const tenant = useSignal('');
	const address = useSignal<string | null>(null);
	const work = useWork();
	if (key.object_type !== 'env') {
		return (
			<>
				<h2>Preview</h2>
				<p class="quiet">The preview signs in as a user. To use it, open the console with an environment key.</p>
			</>
		);
	}
	const signIn = async () => {
		address.value = null;
		const body = { user_id: user.value, tenant_id: tenant.value };
		const { redirect_url } = await management.post('/v2/auth/elements_login_as', { body });
		// The request with the ticket sets the cookie. The page then reads the session.
		await fetch(redirect_url, { headers: { accept: 'application/json' }, credentials: 'same-origin' });
		const query = new URLSearchParams({ envId: environment.id, tenantKey: tenant.value });
		address.value = `/elements/${encodeURIComponent(element.key)}?${query}`;
	};
	return (
		<>
			<h2>Preview</h2>
			<form class="columns" onSubmit={work.submit(signIn)}>
				<Combobox label="User" {...bound(user)} propose={proposeUsers} required />
				<Combobox label="Tenant" {...bound(tenant)} propose={proposeTenants} required />
				<SubmitButton work={work} secondary>
					Sign in as user
				</SubmitButton>
			</form>
			<Failure text={work.failure} />
			{address.value !== null && (
				<p role="status">
					<a href={address.value} target="_blank" rel="noreferrer">
						Open element
					</a>
				</p>
			)}
		</>
	);
}
