"""Definitions of vectors that mix features: what record/fuzz.py found wrong, taken apart."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from definitions import CTX, MINUTE, POL, VECTORS, req, vec                            # noqa: E402

VECTORS.clear()

# ----
H={"weight":1e12}
TF={"enable_tag_filtering":True,"num_retries":0}
def t(*tags,**k): return {"metadata":{"tags":list(tags)},**k}
A=[("a","m",{"tags":["free"]}),("b","m"),("c","m",{"tags":["default"]}),("d","n",{"tags":["paid"]}),("e","n")]
vec("tags","tags-by-id","calls by id: tagged, untagged, default, with tags, bans and none",TF,A,{},[req("r1","a",t("free")),req("r2","a",t("paid")),req("r3","a",t("!free")),req("r4","a"),req("r5","b",t("free")),req("r6","b",t("!free")),req("r7","b"),req("r8","c",t("free")),req("r9","c",t("none")),req("r10","d",t("none")),req("r11","e",t("none")),req("r12","e",t("!paid")),req("r13","d"),req("r14","e")])
vec("tags","tags-by-id-match-all","calls by id, match_any false",{**TF,"tag_filtering_match_any":False},A,{},[req("r1","a",t("free")),req("r2","a",t("free","paid")),req("r3","c",t("free")),req("r5","b",t("free")),req("r8","c",t("none"))])
vec("tags","tags-by-id-apis","calls by id: blocking, embedding, stream",TF,A,{},[req("r1","a",t("paid"),sync=True),req("r2","a",t("paid"),api="embedding"),req("r3","a",t("paid"),stream=True)])
vec("tags","tags-by-id-fallback","a fallback that is an id",{**TF,"fallbacks":[{"m":["d"]}]},A,{"a":500,"b":500,"c":500},[req("r1","m",t("free")),req("r2","m",t("paid"))])
vec("tags","tags-by-provider-model","calls by the provider's model",TF,[("a","m",{"tags":["free"],"model":"openai/x"}),("b","n",{"model":"openai/y"})],{},[req("r1","openai/x",t("paid")),req("r2","openai/y",t("paid")),req("r3","openai/x",t("free"))])
PC={"enable_pre_call_checks":True,"num_retries":0}
vec("precall","precall-by-id","calls by id: region, window",PC,[("a","m",{"region_name":"us"},{"max_input_tokens":15}),("b","m",{"region_name":"eu"})],{},[req("r1","a",{"allowed_model_region":"eu"}),req("r2","a",{},words=60),req("r3","b",{"allowed_model_region":"eu"}),req("r4","a",{"allowed_model_region":"eu"},sync=True)])
vec("precall","precall-embedding","embeddings: region, window",PC,[("a","m",{"region_name":"us",**H},{"max_input_tokens":3}),("b","m",{"region_name":"us","weight":1}),("c","n"),("d","o",{"region_name":"us"})],{},[req("r1","m",{"allowed_model_region":"eu"},api="embedding"),req("r2","m",{},api="embedding"),req("r3","n",{"allowed_model_region":"eu"},api="embedding"),req("r4","o",{"allowed_model_region":"eu"},api="embedding"),req("r5","o",{"allowed_model_region":"eu","num_retries":2},api="embedding")])
vec("precall","precall-embedding-retries","embeddings: region, window",{"enable_pre_call_checks":True},[("a","m",{"region_name":"us",**H}),("b","m",{"region_name":"us","weight":1})],{"b":429,"a":200},[req("r0","b"),req("r1","m",{"allowed_model_region":"eu"},api="embedding"),req("r2","m",{"allowed_model_region":"eu"})])
vec("budget","budget-by-id","calls by id of a deployment that spent its budget",{"num_retries":0},[("a","m",{"input_cost_per_token":1,"output_cost_per_token":1,"max_budget":0.1,"budget_duration":"60s"}),("b","m")],{},[req("r1","a"),req("r2","a")])
EV={"status":200,"chunks":4,"break_after":0,"break_kind":"error_event","error":{"message":"Rate limit reached"}}
EV2={**EV,"break_after":2}
vec("default-params","default-params-stream-cooldown","cooldown_time 33 added: failures inside streams",{"num_retries":0,"cooldown_time":30,"default_litellm_params":{"cooldown_time":33}},[("a","m",H),("b","m",{"weight":1}),("c","n",{**H,"cooldown_time":20}),("d","n",{"weight":1}),("e","o",H),("e2","o",{"weight":1}),("g","p",{**H,"cooldown_time":20}),("h","p",{"weight":1})],{"a":EV,"c":EV,"e":EV2,"g":EV2},[req("r1","m",stream=True),req("r2","n",stream=True),req("r3","o",stream=True),req("r4","p",stream=True)])
vec("cooldown-time","cooldown-time-in-streams","failures inside streams: a request's and a deployment's cooldown_time",{"num_retries":0,"cooldown_time":30},[("a","m",H),("b","m",{"weight":1}),("c","n",{**H,"cooldown_time":20}),("d","n",{"weight":1}),("e","o",H),("e2","o",{"weight":1}),("g","p",{**H,"cooldown_time":20}),("h","p",{"weight":1}),("i","q",H,{"cooldown_time":25}),("j","q",{"weight":1})],{"a":EV,"c":EV,"e":EV2,"g":EV2,"i":EV},[req("r1","m",stream=True,kw={"cooldown_time":44}),req("r2","n",stream=True),req("r3","o",stream=True,kw={"cooldown_time":44}),req("r4","p",stream=True),req("r5","q",stream=True)])
N={"num_retries":0}
for nm,cp in (("f",[{"f":["g"]}]),("f-and-m",[{"f":["g"]},{"m":["h"]}]),("m",[{"m":["h"]}]),("none",None)):
  for st,rep in (("policy",POL),("window",CTX)):
    key="content_policy_fallbacks" if st=="policy" else "context_window_fallbacks"
    for src in ("default","specific"):
      rt={**N, **({"default_fallbacks":["m"]} if src=="default" else {"fallbacks":[{"f":["m"]}]})}
      if cp is not None: rt[key]=cp
      vec("fallback",f"fallback-then-{st}-lists-of-{nm}-{src}",f"f fails, its fallback m ends in a {st} error, with lists for that of {nm}",rt,[("a","f"),("b","m"),("c","g"),("d","h")],{"a":500,"b":rep},[req("r1","f")])

# ----
N={"num_retries":0}
for st,rep in (("policy",POL),("window",CTX)):
    key="content_policy_fallbacks" if st=="policy" else "context_window_fallbacks"
    G=[("a","f"),("b","m"),("e","n"),("c","g"),("d","h")]
    vec("fallback",f"fallback-inherits-{st}-two-steps",f"f to m to n, which ends in a {st} error; a list for that of f alone",{**N,"fallbacks":[{"f":["m"]},{"m":["n"]}],key:[{"f":["g"]}]},G,{"a":500,"b":500,"e":rep},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-list-fails",f"f to m, which ends in a {st} error; the list of f for that fails, then the rest",{**N,"fallbacks":[{"f":["m","h"]}],key:[{"f":["g"]}]},G,{"a":500,"b":rep,"c":500},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-again",f"f to m, which ends in a {st} error; the list of f for that ends in it too",{**N,"fallbacks":[{"f":["m","h"]}],key:[{"f":["g"]}]},G,{"a":500,"b":rep,"c":rep},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-from-request",f"the request's names lead to m, which ends in a {st} error; a list of f for that",{**N,key:[{"f":["g"]}]},G,{"a":500,"b":rep},[req("r1","f",{"fallbacks":["m","h"]}),req("r2","f",{"fallbacks":[{"f":["m","h"]}]}),req("r3","f",{"fallbacks":["m"],key:[{"f":["d"]}]})])
    vec("fallback",f"fallback-inherits-{st}-after-special",f"f ends in a {st} error, its list leads to m, which fails and falls back to n, which ends in it",{**N,"fallbacks":[{"m":["n"]}],key:[{"f":["m","g"]}]},G,{"a":rep,"b":500,"e":rep},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-tiers",f"tiers of f; m with tiers ends in a {st} error; a list of f for that",{**N,"fallbacks":[{"f":["m"]}],key:[{"f":["g"]}]},[("a","f",{"order":1}),("a2","f",{"order":2}),("b","m",{"order":1}),("b2","m",{"order":2}),("c","g")],{"a":500,"a2":500,"b":rep,"b2":rep},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-tier-of-own",f"tier 2 of f ends in a {st} error; a list of f for that",{**N,key:[{"f":["g"]}]},[("a","f",{"order":1}),("a2","f",{"order":2}),("c","g")],{"a":500,"a2":rep},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-generic-of-m",f"m ends in a {st} error and has a generic list; a list of f for that",{**N,"fallbacks":[{"f":["m"]},{"m":["h"]}],key:[{"f":["g"]}]},G,{"a":500,"b":rep},[req("r1","f")])
    vec("fallback",f"fallback-inherits-{st}-default",f"m ends in a {st} error; a default; a list of f for that",{**N,"fallbacks":[{"f":["m"]}],"default_fallbacks":["h"],key:[{"f":["g"]}]},G,{"a":500,"b":rep,"c":500},[req("r1","f")])

# ----
H,L={"weight":1e12},{"weight":1}
WF={"enable_weighted_failover":True,"num_retries":0,"cooldown_time":30}
SP={"input_cost_per_token":1,"output_cost_per_token":1,"max_budget":0.1,"budget_duration":"60s"}
FBK={"fallbacks":[{"m":["g"]}]}
for fb in (False,True):
    x="-then-fallback" if fb else ""
    R={**WF,**(FBK if fb else {})}
    vec("weighted-failover",f"weighted-failover-rest-spent{x}","the rest of the group has spent its budget",R,[("a","m",H),("b","m",{**L,**SP}),("c","g")],{"a":500},[req("r0","b"),req("r1")])
    vec("weighted-failover",f"weighted-failover-rest-other-tags{x}","the rest of the group has other tags",{**R,"enable_tag_filtering":True},[("a","m",{**H,"tags":["x"]}),("b","m",{**L,"tags":["y"]}),("c","g",{"tags":["x"]})],{"a":500},[req("r1",kw={"metadata":{"tags":["x"]}})])
    vec("weighted-failover",f"weighted-failover-rest-benched{x}","the rest of the group is benched by its first attempt, and retried",{**R,"num_retries":1},[("a","m",H),("b","m",{"weight":1e6}),("d","m",L),("c","g")],{"a":500,"b":429,"d":429},[req("r1")])
    vec("weighted-failover",f"weighted-failover-rest-too-small{x}","the prompt does not fit the rest of the group",{**R,"enable_pre_call_checks":True},[("a","m",H),("b","m",L,{"max_input_tokens":5}),("c","g")],{"a":500},[req("r1",words=60)])
    vec("weighted-failover",f"weighted-failover-rest-other-region{x}","the rest of the group is in another region",{**R,"enable_pre_call_checks":True},[("a","m",{**H,"region_name":"us"}),("b","m",{**L,"region_name":"eu"}),("c","g",{"region_name":"us"})],{"a":500},[req("r1",kw={"allowed_model_region":"us"})])
    vec("weighted-failover",f"weighted-failover-rest-over-rpm{x}","the rest of the group has used up its rpm",{**R,"optional_pre_call_checks":["enforce_model_rate_limits"]},[("a","m",H),("b","m",{**L,"rpm":1}),("c","g")],{"a":500},[MINUTE,req("r0","b"),req("r1")])
    vec("weighted-failover",f"weighted-failover-benched-by-retry{x}","two retries: all benched, then nobody",{**R,"num_retries":3},[("a","m",H),("b","m",L),("c","g")],{"a":500,"b":500},[req("r1")])
    vec("weighted-failover",f"weighted-failover-last-error-without-deployment{x}","the retry finds only a spent one",{**R,"num_retries":1},[("a","m",H),("b","m",{**L,**SP}),("d","m",{"weight":1e-3}),("c","g")],{"a":429,"d":200,"b":500},[req("r0","b"),req("r1")])
vec("weighted-failover","weighted-failover-tier-left","tier 3 is benched in its hop; an unordered one is left",{**WF,"num_retries":3},[("a","m",{"order":2,**H}),("b","m",{"order":3,"weight":1e6}),("d","m",L)],{"a":400,"b":429,"d":200},[req("r1")])
vec("weighted-failover","weighted-failover-benched-then-tags","429 benches a; the retry has nobody with its tags",{**WF,"num_retries":1,"enable_tag_filtering":True},[("a","m",{**H,"tags":["x"]}),("b","m",{**L,"tags":["y"]})],{"a":429},[req("r1",kw={"metadata":{"tags":["x"]}})])
RG={"num_retries":0,"cooldown_time":60,"routing_groups":[{"group_name":"rg","models":["m","n"],"routing_strategy":"simple-shuffle"}]}
vec("routing-groups","routing-groups-all-benched-hint","a called group whose deployments are all benched: the hint",RG,[("a","m",{"cooldown_time":20}),("b","n",{"cooldown_time":30})],{"a":429,"b":429},[req("r1","rg"),req("r2","rg"),req("r3","rg"),req("r4","m"),req("r5","n")],[["a","b"]])
vec("alias","alias-all-benched-hint","an alias whose deployments are benched: the hint",{"num_retries":0,"cooldown_time":60,"model_group_alias":{"al":"m"}},[("a","m",{"cooldown_time":20}),("b","m",{"cooldown_time":20})],{"a":429,"b":429},[req("r1","al"),req("r2","al"),req("r3","al"),req("r4","m")],[["a","b"]])
vec("lookup","lookup-provider-model-benched-hint","a provider's model whose deployment is benched: the hint",{"num_retries":0,"cooldown_time":60},[("a","m",{"cooldown_time":20,"model":"openai/x"}),("b","m",{"cooldown_time":20,"model":"openai/x"})],{"a":429,"b":429},[req("r1","openai/x"),req("r2","openai/x"),req("r3","openai/x"),req("r4","m")],[["a","b"]])

# ----
H,L={"weight":1e12},{"weight":1}
SP={"input_cost_per_token":1,"output_cost_per_token":1,"max_budget":0.1,"budget_duration":"60s"}
for wf in (False,True):
  for n in (0,1,2):
    vec("enforce",f"enforce-then-spent-failover-{wf}-{n}","refused by its rpm, the other has spent its budget",{"enable_weighted_failover":wf,"cooldown_time":30,"optional_pre_call_checks":["enforce_model_rate_limits"]},[("a","m",{**H,"rpm":1}),("b","m",{**L,**SP})],{"a":500},[MINUTE,req("r0","b"),req("r1",kw={"num_retries":n}),req("r2",kw={"num_retries":n})])
    vec("enforce",f"enforce-then-tags-failover-{wf}-{n}","refused by its rpm, the other has other tags",{"enable_weighted_failover":wf,"cooldown_time":30,"enable_tag_filtering":True,"optional_pre_call_checks":["enforce_model_rate_limits"]},[("a","m",{**H,"rpm":1,"tags":["x"]}),("b","m",{**L,"tags":["y"]})],{"a":500},[MINUTE,req("r1",kw={"num_retries":n,"metadata":{"tags":["x"]}})])
  vec("enforce",f"enforce-then-ok-failover-{wf}","refused by its rpm, the other is healthy",{"enable_weighted_failover":wf,"cooldown_time":30,"optional_pre_call_checks":["enforce_model_rate_limits"]},[("a","m",{**H,"rpm":1}),("b","m",{**L})],{"a":500},[MINUTE,req("r1",kw={"num_retries":1})])

# ----
H,L={"weight":1e12},{"weight":1}
SP={"input_cost_per_token":1,"output_cost_per_token":1,"max_budget":0.1,"budget_duration":"60s"}
R={"enable_weighted_failover":True,"cooldown_time":30,"num_retries":0}
vec("weighted-failover","weighted-failover-rest-spent-alone-then-fallback","a is benched by its 429, b has spent its budget; a fallback",{**R,"fallbacks":[{"m":["g"]}]},[("a","m",H),("b","m",{**L,**SP}),("c","g")],{"a":429},[req("r0","b"),req("r1")])
vec("weighted-failover","weighted-failover-rest-spent-alone","a is benched by its 429, b has spent its budget",R,[("a","m",H),("b","m",{**L,**SP}),("c","g")],{"a":429},[req("r0","b"),req("r1")])
vec("weighted-failover","weighted-failover-rest-spent-alone-in-fallback","the same in a fallback group, with another after it",{**R,"fallbacks":[{"f":["m","g"]}]},[("a","m",H),("b","m",{**L,**SP}),("c","g"),("d","f")],{"a":429,"d":500},[req("r0","b"),req("r1","f")])
vec("weighted-failover","weighted-failover-rest-other-tags-alone","a is benched by its 429, b has other tags; a fallback",{**R,"enable_tag_filtering":True,"fallbacks":[{"m":["g"]}]},[("a","m",{**H,"tags":["x"]}),("b","m",{**L,"tags":["y"]}),("c","g",{"tags":["x"]})],{"a":429},[req("r1",kw={"metadata":{"tags":["x"]}})])
vec("weighted-failover","weighted-failover-rest-too-small-alone","a is benched by its 429, the prompt does not fit b; a fallback",{**R,"enable_pre_call_checks":True,"fallbacks":[{"m":["g"]}]},[("a","m",H),("b","m",L,{"max_input_tokens":5}),("c","g")],{"a":429},[req("r1",words=60)])
vec("weighted-failover","weighted-failover-rest-text-weight","the rest has a text for a weight; a fallback",{**R,"fallbacks":[{"m":["g"]}]},[("a","m",{"order":1}),("b","m",{"order":1}),("d","m",{"weight":"3"}),("c","g")],{"a":429,"b":500,"g":200},[req("r1"),req("r2")],[["a","b"]])
vec("lookup","lookup-stand-in-benched-hint","a name that the default fallback stands in for, whose deployments are benched: the hint",{"num_retries":0,"cooldown_time":60,"default_fallbacks":["m"]},[("a","m",{"cooldown_time":20}),("b","m",{"cooldown_time":20})],{"a":429,"b":429},[req("r1","m"),req("r2","m"),req("r3","x",kw={"disable_fallbacks":True}),req("r4","m",kw={"disable_fallbacks":True})],[["a","b"]])
vec("routing-groups","routing-groups-alias-of-group-hint","an alias of a called group whose deployments are benched: the hint",{"num_retries":0,"cooldown_time":60,"model_group_alias":{"al":"rg"},"routing_groups":[{"group_name":"rg","models":["m"],"routing_strategy":"simple-shuffle"}]},[("a","m",{"cooldown_time":20}),("b","m",{"cooldown_time":20})],{"a":429,"b":429},[req("r1","m"),req("r2","m"),req("r3","al"),req("r4","rg")],[["a","b"]])

# ----
H,L={"weight":1e12},{"weight":1}
for n in (0,1):
    CUT={"chunks":3,"break_after":n}
    vec("stream",f"stream-cut-{n}-is-a-success","two streams that are cut, then failures: when is a benched",{"num_retries":0,"cooldown_time":30},[("a","m",H),("b","m",L)],{"a":[CUT,CUT,500,500,500,500,500]},[req("r1",stream=True),req("r2",stream=True)]+[req(f"r{i}") for i in range(3,8)])
vec("num-retries","num-retries-global-forgotten","litellm.num_retries 2; what failing and answered blocking calls leave of it",{"num_retries":0,"disable_cooldowns":True},[("a","m",H),("b","m",L),("c","n")],{"a":500,"b":500},[req("r1"),req("r2","n",sync=True),req("r3"),req("r4",sync=True),req("r5"),req("r6",sync=True)],globals={"num_retries":2})
vec("num-retries","num-retries-global-0-forgotten","litellm.num_retries 0; what a failing blocking call leaves of it",{"num_retries":1,"disable_cooldowns":True},[("a","m",H),("b","m",L)],{"a":500,"b":500},[req("r1"),req("r2",sync=True),req("r3"),req("r4",api="embedding")],globals={"num_retries":0})
