package node
import ("testing";"context";"fmt";"github.com/redis/go-redis/v9";"time";"github.com/ringside-kv/ringside/buckets";"github.com/ringside-kv/ringside/store")
func TestDbg(t *testing.T){
 a:=openMember(t,"a"); defer a.Close()
 waitFor(t,"x",func() bool {return a.primaries()["a"]==256})
 ctx:=context.Background()
 cl:=redis.NewClient(&redis.Options{Addr:a.Addr().String()})
 for i:=range 200 { cl.Set(ctx,fmt.Sprint("key:",i),i,0) }
 b:=openMember(t,"b",a.gossipAddr()); defer b.Close()
 waitFor(t,"y",func() bool {return b.primaries()["b"]==128 && a.primaries()["b"]==128})
 time.Sleep(300*time.Millisecond)
 p:=b.cluster.table.State().Placement()
 miss:=map[string]int{}
 for i:=range 200 {
  k:=fmt.Sprint("key:",i)
  pr:=p.Lookup(buckets.Token([]byte(k))).Primary
  _,err:=cl.Get(ctx,k).Result()
  if err!=nil { miss[pr]++ ; fmt.Println(k,pr,err, has(a,k), has(b,k))}
 }
 fmt.Println(miss, a.store.Keys(), b.store.Keys())
}
func has(n *Node,k string) bool { u:=n.store.NewUnit(); u.Begin(time.Now().UnixMilli(),nil); v,_:=u.Peek([]byte(k)); u.Commit(&store.Signal{}); return v.Exists() }
