module.exports = {
  'ProductRepository.getProduct': async t => {
    const { productId } = await t.product();
    const live = t.watch(callback => t.sdk.ProductRepository.getProduct(productId, callback));
    await live.until('the product', ({ data }) => data?.productId === productId);
  },
  'ProductRepository.searchProducts': async t => {
    const { productId, productName } = await t.product();
    const live = t.watch(callback => t.sdk.ProductRepository.searchProducts({ keyword: productName.slice(0, 8) }, callback));
    await live.until('the product', ({ data }) => data.some(product => product.productId === productId));
  },
};
