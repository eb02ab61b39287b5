import { elementTypes } from '../../../model/element/element-types.js';
import { visibleText } from '../../../model/visible-text.js';
import { answered, management } from '../../api.js';
import { DataTable } from '../../part/data-table.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { LoadedFrame } from '../../part/loaded-frame.js';
import { Pager } from '../../part/pager.js';
import { screenPath } from '../../screen-path.js';
import { environmentPath } from '../../session.js';
import { useLoaded } from '../../use-loaded.js';
import { useSearch } from '../../use-search.js';

const perPage = 30;

/** Paged element list. */
export function ElementList() {
	const search = useSearch();
	const page = Number(search.get('page')) || 1;
	const loaded = useLoaded(
		(signal) =>
			answered(
				management.GET('/v2/elements/{proj_id}/{env_id}/config', {
					params: { path: environmentPath(), query: { page, per_page: perPage } },
					signal,
				}),
			),
		[page],
	);
	return (
		<LoadedFrame loaded={loaded}>
			{({ data, total_count, page_count }) =>
				total_count === 0 ? (
					<Empty title="No elements yet">
						<p>
							Create an element, preview it as a user, then embed it in your application.{' '}
							<code>docs/develop/elements-quickstart.md</code> has all steps up to an approved request.
						</p>
					</Empty>
				) : (
					<>
						<DataTable
							caption="Elements"
							rows={data}
							rowKey={({ id }) => id}
							columns={[
								{
									title: 'Element',
									cell: ({ key, name }) => <a href={screenPath(`elements/${key}`)}>{visibleText(name)}</a>,
								},
								{ title: 'Key', cell: ({ key }) => <KeyText text={key} /> },
								{ title: 'Type', cell: ({ elements_type }) => elementTypes[elements_type] },
								{ title: 'Opened', cell: ({ is_active }) => (is_active ? 'yes' : 'never') },
								{
									title: 'Webhook',
									cell: ({ webhook }) => (webhook === null ? 'none' : <KeyText text={webhook.url} />),
								},
							]}
						/>
						<Pager
							page={page}
							pageCount={page_count}
							totalCount={total_count}
							turnTo={(next) => search.set({ page: String(next) })}
						/>
					</>
				)
			}
		</LoadedFrame>
	);
}
