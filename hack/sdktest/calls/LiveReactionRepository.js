// Reactions that fly over a live stream.

async function watched(t) {
  const { data: room } = await t.raw.RoomRepository.createRoom({ title: t.name('Camp') });
  const post = await t.post({ dataType: 'room', data: { text: 'Watch', roomId: room.roomId } });
  await t.subscribe(t.raw.getLiveReactionTopic(post));
  return { post, room };
}

const reaction = ({ post, room }) => ({ referenceType: 'post', referenceId: post.postId, roomId: room.roomId, reactionName: 'fire' });
const bobReacts = (t, { post, room }) => t.bob.request('POST', '/api/v1/reactions/live', {
  roomId: room.roomId, reactions: [{ reactionName: 'fire', referencePublicId: post.postId, referenceType: 'post', occurredAt: new Date().toISOString() }],
});

module.exports = {
  'LiveReactionRepository.createReaction': async t => {
    const place = await watched(t);
    const watch = t.watch(callback => t.raw.Client.onNetworkActivities(callback));
    t.equal(await t.sdk.LiveReactionRepository.createReaction(reaction(place)), true);
    await watch.heard('the request', (request, response) => request.url.includes('/api/v1/reactions/live') && response.status === 200);
  },
  'LiveReactionRepository.onLiveReactionCreated': async t => {
    const place = await watched(t);
    await t.listen('LiveReactionRepository.onLiveReactionCreated', () => bobReacts(t, place), heard => JSON.stringify(heard).includes('fire'));
  },
  'LiveReactionRepository.getReactions': async t => {
    const place = await watched(t);
    const watch = t.watch(callback => t.sdk.LiveReactionRepository.getReactions(place.post.postId, callback));
    await bobReacts(t, place);
    await watch.heard("bob's reaction", reactions => reactions.some(({ reactionName }) => reactionName === 'fire'));
  },
};
