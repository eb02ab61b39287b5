import { elementTypes } from '../../../model/element/element-types.js';
import { visibleText } from '../../../model/visible-text.js';
import { management } from '../../api.js';
import { Empty } from '../../part/empty.js';
import { KeyText } from '../../part/key-text.js';
import { PagedTable } from '../../part/table/paged-table.js';
import { screenPath } from '../../screen-path.js';

export function ElementList() {
	return (
		<PagedTable
			caption="Elements"
			parameter="page"
			load={(query, signal) =>
				management.get('/v2/elements/{proj_id}/{env_id}/config', { query: { ...query, per_page: 30 }, signal })
			}
			dependencies={[]}
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
			empty={
				<Empty title="No elements yet" docs={{ page: 'develop/elements-quickstart', title: 'Elements in ten minutes' }}>
					<p>Create an element, preview it as a user, then embed it in your application.</p>
				</Empty>
			}
		/>
	);
}
