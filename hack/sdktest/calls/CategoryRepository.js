// Categories, which administrators create.

const create = t => t.make('category', async () => (await t.admin('POST', '/api/v3/community-categories', { name: t.name('Sport') })).categories[0]);

module.exports = {
  'CategoryRepository.getCategory': async t => {
    const { categoryId, name } = await create(t);
    const { data } = await t.sdk.CategoryRepository.getCategory(categoryId);
    t.equal(data.categoryId, categoryId);
    t.equal(data.name, name);
  },
  'CategoryRepository.getCategories': async t => {
    const { categoryId } = await create(t);
    const live = t.watch(callback => t.sdk.CategoryRepository.getCategories({ sortBy: 'lastCreated', limit: 5 }, callback));
    await live.until('the category', ({ data }) => data.some(category => category.categoryId === categoryId));
  },
};
