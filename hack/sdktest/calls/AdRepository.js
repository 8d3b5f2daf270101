module.exports = {
  'AdRepository.getNetworkAds': async t => {
    const { ads, settings } = await t.sdk.AdRepository.getNetworkAds();
    t.ok(Array.isArray(ads));
    t.equal(typeof settings.enabled, 'boolean');
    t.ok(settings.frequency.feed.type);
  },
};
