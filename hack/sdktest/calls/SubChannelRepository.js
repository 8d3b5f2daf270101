// Sub-channels of a channel, and reading.

// channel returns a channel of bob, in which the user is a moderator.
async function foreign(t) {
  return t.make("bob's channel", async () => {
    const { data } = await t.bob.call('ChannelRepository.createChannel', { type: 'community', displayName: t.name('Hut'), userIds: [t.me] });
    return data;
  });
}

const create = async t => (await t.raw.SubChannelRepository.createSubChannel({ channelId: (await t.channel()).channelId, displayName: t.name('Room') })).data;
const bobCreates = async t => (await t.bob.call('SubChannelRepository.createSubChannel', { channelId: (await foreign(t)).channelId, displayName: t.name('Room') })).data;
const has = subChannelId => ({ data }) => data.some(subChannel => subChannel.subChannelId === subChannelId);

async function remove(t, path) {
  const { subChannelId } = await create(t);
  const subChannel = await path(subChannelId);
  t.equal(subChannel.subChannelId, subChannelId);
  t.equal(subChannel.isDeleted, true);
}

const event = (name, act, condition = () => true) => async t => {
  const subChannel = await bobCreates(t);
  await t.listen(`SubChannelRepository.${name}`, () => act(t, subChannel), heard => heard.subChannelId === subChannel.subChannelId && condition(heard));
};

module.exports = {
  'SubChannelRepository.createSubChannel': async t => {
    const { channelId } = await t.channel();
    const { data } = await t.sdk.SubChannelRepository.createSubChannel({ channelId, displayName: 'Weather' });
    t.equal(data.displayName, 'Weather');
    t.equal(data.channelId, channelId);
  },
  'SubChannelRepository.getSubChannelByIds': async t => {
    const ids = [(await create(t)).subChannelId, (await create(t)).subChannelId];
    const { data } = await t.sdk.SubChannelRepository.getSubChannelByIds(ids);
    t.same(data.map(({ subChannelId }) => subChannelId).sort(), ids.sort());
  },
  'SubChannelRepository.updateSubChannel': async t => {
    const { data } = await t.sdk.SubChannelRepository.updateSubChannel((await create(t)).subChannelId, { displayName: 'Renamed' });
    t.equal(data.displayName, 'Renamed');
  },
  'SubChannelRepository.deleteSubChannel': t => remove(t, t.sdk.SubChannelRepository.deleteSubChannel),
  'SubChannelRepository.softDeleteSubChannel': t => remove(t, t.sdk.SubChannelRepository.softDeleteSubChannel),
  'SubChannelRepository.hardDeleteSubChannel': t => remove(t, t.sdk.SubChannelRepository.hardDeleteSubChannel),
  'SubChannelRepository.getSubChannel': async t => {
    const { subChannelId } = await bobCreates(t);
    const live = t.watch(callback => t.sdk.SubChannelRepository.getSubChannel(subChannelId, callback));
    await live.until('the sub-channel', ({ data }) => data?.subChannelId === subChannelId);
    await t.bob.call('SubChannelRepository.updateSubChannel', subChannelId, { displayName: 'Changed by bob' });
    await live.until("bob's change", ({ data }) => data.displayName === 'Changed by bob');
  },
  'SubChannelRepository.getSubChannels': async t => {
    const { channelId } = await foreign(t);
    const old = await bobCreates(t);
    const live = t.watch(callback => t.sdk.SubChannelRepository.getSubChannels({ channelId, limit: 20 }, callback));
    await live.until('the sub-channels', has(old.subChannelId));
    const { subChannelId } = await bobCreates(t);
    await live.until("bob's sub-channel", has(subChannelId));
  },
  'SubChannelRepository.onSubChannelCreated': async t => {
    await foreign(t);
    let created;
    await t.listen('SubChannelRepository.onSubChannelCreated', async () => (created = await bobCreates(t)), heard => !created || heard.displayName.startsWith('Room'));
  },
  'SubChannelRepository.onSubChannelUpdated': event('onSubChannelUpdated',
    (t, { subChannelId }) => t.bob.call('SubChannelRepository.updateSubChannel', subChannelId, { displayName: 'Edited' }), heard => heard.displayName === 'Edited'),
  'SubChannelRepository.onSubChannelDeleted': event('onSubChannelDeleted', (t, { subChannelId }) => t.bob.call('SubChannelRepository.deleteSubChannel', subChannelId)),
  'SubChannelRepository.startReading': async t => {
    const { defaultSubChannelId } = await foreign(t);
    t.equal(await t.sdk.SubChannelRepository.startReading(defaultSubChannelId), true);
  },
  'SubChannelRepository.stopReading': async t => {
    const { defaultSubChannelId } = await foreign(t);
    await t.raw.SubChannelRepository.startReading(defaultSubChannelId);
    t.equal(await t.sdk.SubChannelRepository.stopReading(defaultSubChannelId), true);
  },
  'SubChannelRepository.markReadEngineOnLoginHandler': async t => {
    t.equal(typeof t.sdk.SubChannelRepository.markReadEngineOnLoginHandler(), 'function');
  },
  'SubChannelRepository.startMessageReceiptSync': async t => {
    const { defaultSubChannelId } = await foreign(t);
    t.equal(await t.sdk.SubChannelRepository.startMessageReceiptSync(defaultSubChannelId), true);
  },
  'SubChannelRepository.stopMessageReceiptSync': async t => {
    const { defaultSubChannelId } = await foreign(t);
    await t.raw.SubChannelRepository.startMessageReceiptSync(defaultSubChannelId);
    t.equal(await t.sdk.SubChannelRepository.stopMessageReceiptSync(defaultSubChannelId), true);
  },
};
