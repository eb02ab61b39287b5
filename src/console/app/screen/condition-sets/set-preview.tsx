import { directoryPath } from '../../../model/directory-path.js';
import { Combobox } from '../../part/field/combobox.js';
import { KeyLink } from '../../part/key-link.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { NameText } from '../../part/name-text.js';
import { DataTable } from '../../part/table/data-table.js';
import { Pager } from '../../part/table/pager.js';
import { proposeTenants } from '../../propose.js';
import { screenPath } from '../../screen-path.js';
import type { Loaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';

/** User or instance that a set selects. */
type Selected =
	| { readonly id: string; readonly key: string; readonly email: string | null }
	| { readonly id: string; readonly key: string; readonly resource: string; readonly tenant: string | null };

interface Found {
	readonly data: readonly Selected[];
	readonly total_count: number;
	readonly page_count: number;
	readonly checked: number;
}

interface SetPreviewProps {
	readonly type: 'userset' | 'resourceset';
	/** True if the form is complete enough for a preview. */
	readonly isAskable: boolean;
	/** True if the server rejected the conditions. The rows show the problems. */
	readonly hasProblems: boolean;
	/** True if the set names roles on a resource, which a preview of all users cannot find. */
	readonly needsDecisionPoint: boolean;
	/** Parts of a check that the conditions read and a preview does not have, such as `context`. */
	readonly absent: readonly string[];
	readonly loaded: Loaded<Found | null>;
	readonly page: number;
}

/** Preview of the users or instances that the edited set selects. */
export function SetPreview(props: SetPreviewProps) {
	const { type, hasProblems, needsDecisionPoint, absent, loaded, page } = props;
	const isAskable = props.isAskable && !needsDecisionPoint;
	const search = useSearch();
	return (
		<section>
			<h2>Preview</h2>
			<form class="columns" onSubmit={(event) => event.preventDefault()}>
				<Combobox
					label="Tenant"
					placeholder="All"
					{...search.filter('tenant', { page: '' })}
					propose={proposeTenants}
				/>
			</form>
			{!props.isAskable && <p class="quiet">Choose a resource first.</p>}
			{needsDecisionPoint && !hasProblems && (
				<p class="quiet">
					The set depends on roles on a resource, so its users cannot be listed. Test it below with one user and one
					instance.
				</p>
			)}
			{isAskable && hasProblems && <p class="quiet">Fix the conditions to see a preview.</p>}
			{isAskable && !hasProblems && absent.length > 0 && (
				<p class="quiet">
					Some conditions compare attributes of a check’s {absent.join(' and ')}, which a preview does not have. Here,
					these conditions do not match. Test the set below.
				</p>
			)}
			{isAskable && !hasProblems && (
				<LoadedFrame loaded={loaded}>
					{(found) => found !== null && <Selection found={found} type={type} page={page} />}
				</LoadedFrame>
			)}
		</section>
	);
}

interface SelectionProps {
	readonly found: Found;
	readonly type: 'userset' | 'resourceset';
	readonly page: number;
}

function Selection({ found: { data, total_count, page_count, checked }, type, page }: SelectionProps) {
	const things = type === 'userset' ? 'users' : 'instances';
	return (
		<>
			<p role="status">
				{total_count.toLocaleString('en')} of {checked.toLocaleString('en')} {things} match.
			</p>
			{data.length > 0 && (
				<DataTable
					caption={`Matching ${things}`}
					rows={data}
					rowKey={({ id }) => id}
					columns={[
						{
							title: type === 'userset' ? 'User' : 'Instance',
							cell: (one) => {
								const isInstance = 'resource' in one;
								const name = isInstance ? `${one.resource}:${one.key}` : one.key;
								return (
									<KeyLink href={screenPath(directoryPath(isInstance ? 'instances' : 'users', name))} text={name} />
								);
							},
						},
						{
							title: type === 'userset' ? 'Email' : 'Tenant',
							cell: (one) =>
								'resource' in one ? <KeyText text={one.tenant ?? ''} /> : <NameText text={one.email ?? ''} />,
						},
					]}
				/>
			)}
			<Pager page={page} list={{ page_count, total_count }} />
		</>
	);
}
