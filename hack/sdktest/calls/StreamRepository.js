// Live streams of the older kind.

const create = async t => (await t.raw.StreamRepository.createStream({ title: t.name('Summit'), description: 'Live', thumbnailFileId: undefined })).data;
const patch = { title: 'Renamed' };

async function listed(t, start) {
  const { streamId } = await create(t);
  const live = t.watch(callback => start({ limit: 5, sortBy: 'lastCreated' }, callback));
  await live.until('the stream', ({ data }) => data.some(stream => stream.streamId === streamId));
}

// event checks a listener of what the media server reports in turn, and of what act does.
const event = (name, events, act = () => {}) => async t => {
  const stream = await create(t);
  await t.post({ dataType: 'liveStream', data: { text: 'Watch', streamId: stream.streamId } });
  await t.subscribe(`${t.raw.Client.getActiveUser().path.split('/user/')[0]}/videostreaming`);
  await t.listen(`StreamRepository.${name}`, async () => {
    for (const reported of events) await t.report('video-streaming', stream.streamId, reported, keyOf(stream));
    await act(t, stream);
  }, heard => JSON.stringify(heard).includes(stream.streamId));
};

// keyOf returns the key in the address to which the streamer sends.
const keyOf = stream => new URL(stream.streamerUrl.url.replace('rtmp:', 'http:')).searchParams.get('key');
// setBan bans bob from a stream, or lifts the ban.
const setBan = (t, { streamId }, verb) => t.request('PUT', `/api/v3/video-streaming/${streamId}/users/${verb}`, { userIds: [t.bob.id] });

module.exports = {
  'StreamRepository.createStream': async t => {
    const title = t.name('Summit');
    const { data } = await t.sdk.StreamRepository.createStream({ title, description: 'Live' });
    t.equal(data.title, title);
    t.equal(data.status, 'idle');
    t.ok(data.streamerUrl.url.startsWith('rtmp'));
  },
  'StreamRepository.updateStream': async t => {
    const { data } = await t.sdk.StreamRepository.updateStream((await create(t)).streamId, patch);
    t.equal(data.title, 'Renamed');
  },
  'StreamRepository.editStream': async t => {
    const { data } = await t.sdk.StreamRepository.editStream((await create(t)).streamId, patch);
    t.equal(data.title, 'Renamed');
  },
  'StreamRepository.deleteStream': async t => {
    const { streamId } = await create(t);
    t.equal(await t.sdk.StreamRepository.deleteStream(streamId), true);
    await t.rejects(t.bob.request('GET', `/api/v3/video-streaming/${streamId}`));
  },
  'StreamRepository.disposeStream': async t => {
    const { streamId } = await create(t);
    const { data } = await t.sdk.StreamRepository.disposeStream(streamId);
    t.equal(data.streamId, streamId);
    t.equal(data.status, 'ended');
  },
  'StreamRepository.queryStreams': async t => {
    const { streamId } = await create(t);
    const { data } = await t.sdk.StreamRepository.queryStreams({ sortBy: 'lastCreated' });
    t.ok(data.some(stream => stream.streamId === streamId));
  },
  'StreamRepository.getStream': async t => {
    const { streamId } = await create(t);
    const { data } = await t.sdk.StreamRepository.getStream(streamId);
    t.equal(data.streamId, streamId);
  },
  'StreamRepository.getStreamById': async t => {
    const { streamId, title } = await create(t);
    const live = t.watch(callback => t.sdk.StreamRepository.getStreamById(streamId, callback));
    await live.until('the stream', ({ data }) => data?.title === title);
  },
  'StreamRepository.getStreams': t => listed(t, t.sdk.StreamRepository.getStreams),
  'StreamRepository.onStreamStarted': event('onStreamStarted', ['started']),
  'StreamRepository.onStreamStopped': event('onStreamStopped', ['started', 'stopped']),
  'StreamRepository.onStreamRecorded': event('onStreamRecorded', ['started', 'stopped', 'recorded']),
  'StreamRepository.onStreamFlagged': event('onStreamFlagged', ['flagged']),
  'StreamRepository.onStreamTerminated': event('onStreamTerminated', ['started', 'terminated']),
  'StreamRepository.onStreamViewerBanned': event('onStreamViewerBanned', [], (t, stream) => setBan(t, stream, 'ban')),
  'StreamRepository.onStreamViewerUnbanned': event('onStreamViewerUnbanned', [], async (t, stream) => {
    await setBan(t, stream, 'ban');
    await setBan(t, stream, 'unban');
  }),
};
