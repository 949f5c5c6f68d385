"""zndraw-joblib's router in an application of its own, for uvicorn."""

import os
from contextlib import asynccontextmanager
from types import SimpleNamespace
from uuid import UUID

from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlmodel import SQLModel
from zndraw_auth import current_active_user, current_superuser
from zndraw_auth.db import Base, User, get_session_maker
from zndraw_joblib.exceptions import ProblemException, problem_exception_handler
from zndraw_joblib.router import router
from zndraw_joblib.settings import JobLibSettings

engine = create_async_engine(os.environ["PEER_URL"], pool_size=10)
makers = async_sessionmaker(engine, class_=AsyncSession, expire_on_commit=False)
user_id = UUID(int=7)


@asynccontextmanager
async def lifespan(app):
    async with engine.begin() as connection:
        for metadata in {Base.metadata, SQLModel.metadata}:
            await connection.run_sync(metadata.create_all)
    async with makers() as session:
        session.add(User(id=user_id, email="a@example.org", hashed_password="x", is_superuser=True))
        await session.commit()
    yield


app = FastAPI(lifespan=lifespan)
app.state.joblib_settings = JobLibSettings()
app.dependency_overrides[get_session_maker] = lambda: makers
user = SimpleNamespace(id=user_id, is_superuser=True, is_active=True)
app.dependency_overrides[current_active_user] = lambda: user
app.dependency_overrides[current_superuser] = lambda: user
app.add_exception_handler(ProblemException, problem_exception_handler)
app.include_router(router)
