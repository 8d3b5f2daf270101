// Reactions on posts, comments and messages.

async function watchedPost(t) {
  const post = await t.foreignPost();
  await t.subscribe(t.raw.getCommunityTopic(await t.community(), t.raw.SubscriptionLevels.POST));
  return post;
}

const react = (t, peer, { postId }, name) => t[peer].call('ReactionRepository.addReaction', 'post', postId, name);
const retract = (t, peer, { postId }, name) => t[peer].call('ReactionRepository.removeReaction', 'post', postId, name);

// event checks a listener of the reactions on one post.
const event = (name, act, condition) => async t => {
  const post = await watchedPost(t);
  const watch = t.watch(callback => t.sdk.ReactionRepository[name]('post', post.postId, callback));
  await act(t, post);
  await watch.heard(name, condition);
};
const both = async (t, post) => {
  await react(t, 'bob', post, 'like');
  await retract(t, 'bob', post, 'like');
};

module.exports = {
  'ReactionRepository.addReaction': async t => {
    const { postId } = await t.foreignPost();
    const { commentId } = await t.foreignComment();
    const { messageId } = await t.foreignMessage();
    for (const [type, id] of [['post', postId], ['comment', commentId], ['message', messageId]]) {
      t.equal(await t.sdk.ReactionRepository.addReaction(type, id, 'like'), true);
    }
    t.same((await t.request('GET', `/api/v3/posts/${postId}`)).posts[0].myReactions, ['like']);
    t.same((await t.request('GET', `/api/v3/comments/${commentId}`)).comments[0].myReactions, ['like']);
    t.same((await t.request('GET', `/api/v5/messages/${messageId}`)).messages[0].myReactions, ['like']);
  },
  'ReactionRepository.removeReaction': async t => {
    const { postId } = await t.foreignPost();
    const { messageId } = await t.foreignMessage();
    for (const [type, id] of [['post', postId], ['message', messageId]]) {
      await t.raw.ReactionRepository.addReaction(type, id, 'like');
      t.equal(await t.sdk.ReactionRepository.removeReaction(type, id, 'like'), true);
    }
    t.equal((await t.request('GET', `/api/v3/posts/${postId}`)).posts[0].reactionsCount, 0);
    t.equal((await t.request('GET', `/api/v5/messages/${messageId}`)).messages[0].reactionCount, 0);
  },
  // On messages, because with posts the packages leave the reactions of other users out of the collection.
  'ReactionRepository.getReactions': async t => {
    const { messageId } = await t.foreignMessage();
    await t.bob.call('ReactionRepository.addReaction', 'message', messageId, 'like');
    const live = t.watch(callback => t.sdk.ReactionRepository.getReactions({ referenceType: 'message', referenceId: messageId }, callback));
    await live.until("bob's reaction", ({ data }) => data.length === 1 && data[0].userId === t.bob.id && data[0].reactionName === 'like');
    await t.carol.call('ReactionRepository.addReaction', 'message', messageId, 'love');
    await live.until("carol's reaction", ({ data }) => data.some(({ userId }) => userId === t.carol.id));
    await t.bob.call('ReactionRepository.removeReaction', 'message', messageId, 'like');
    await live.until("that bob's reaction is gone", ({ data }) => data.every(({ userId }) => userId !== t.bob.id));
  },
  'ReactionRepository.onReactionAdded': event('onReactionAdded', (t, post) => react(t, 'bob', post, 'like'), post => post.reactions.like === 1),
  'ReactionRepository.onReactionRemoved': event('onReactionRemoved', both, post => post.reactionsCount === 0),
  'ReactionRepository.onReactorAdded': event('onReactorAdded', (t, post) => react(t, 'bob', post, 'like'), reactor => reactor.userId.startsWith('bob')),
  'ReactionRepository.onReactorRemoved': event('onReactorRemoved', both, reactor => reactor.userId.startsWith('bob')),
};
